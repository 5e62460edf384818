/**
 * Logs that between them hold every type of event, as fixtures keep them: from 0.1.0 on, one of each released version. Run as a
 * program, this file writes that of the version on top of CHANGELOG.md; it is final when that version is released.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { gunzipSync, gzipSync } from "node:zlib"
import { PopulationEvent, Replay } from "@inspo/cohorts"
import { Learning } from "../../src/Learning.ts"
import { Schema } from "effect"
import * as fc from "fast-check"
import { changed } from "./Changed.ts"
import { eventful, Life, step } from "./Life.ts"

const Fixture = Schema.Struct({
  logs: Schema.Array(
    Schema.Struct({
      events: Schema.Array(Schema.Json),
      /** What the log leads to. */
      learning: Schema.Json
    })
  )
})

const folder = new URL("../fixtures/", import.meta.url)
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Fixture))
const encodeEvent = Schema.encodeSync(PopulationEvent)
const encodeLearning = Schema.encodeSync(Learning)

/** The fixture of each version. */
export const read = () =>
  readdirSync(folder)
    .flatMap((name) => /^log-(\d+\.\d+\.\d+)\.json\.gz$/u.exec(name)?.[1] ?? [])
    .map((release) => ({ release, ...decode(gunzipSync(readFileSync(fileOf(release))).toString()) }))

const fileOf = (release: string): URL => new URL(`log-${release}.json.gz`, folder)

/** What a log leads to, as fixtures keep it. */
export const learningOf = (log: ReadonlyArray<PopulationEvent>): unknown =>
  encodeLearning(Replay.replay(log).state.learning)

/** The types of the events of some logs. */
export const typesIn = (logs: ReadonlyArray<ReadonlyArray<PopulationEvent>>): ReadonlyArray<string> =>
  [...new Set(logs.flat().map(({ _tag }) => _tag))].toSorted()

/** Lives that happen by chance, until no further one brings a type of event. */
export const played = (): ReadonlyArray<ReadonlyArray<PopulationEvent>> => {
  const lives = fc.sample(fc.array(step, { minLength: 30, maxLength: 40 }), { numRuns: 60, seed: 1 })
  const logs: Array<ReadonlyArray<PopulationEvent>> = []
  for (const [place, steps] of lives.entries()) {
    const life = new Life(eventful(place % 2 === 0 ? "trainer" : "online"))
    for (const [index, one] of steps.entries()) life.take(one, index + 1)
    if (typesIn([...logs, life.log]).length > typesIn(logs).length) logs.push([...life.log])
  }
  return [...logs, scripted()]
}

/** What lives do not do: another setting, a validation, a sealed cohort with a late reward. */
const scripted = (): ReadonlyArray<PopulationEvent> => {
  const settings = eventful("trainer")
  const life = new Life(settings)
  life.do({ _tag: "Configure", now: 0, settings: changed(settings, { size: 4 }) })
  const request = { key: "v", n: 1, stratum: "all", sticky: null, question: null, instructions: 1 }
  const validation = { cohort: "validation/1", phase: "validation", isFullBatch: false, requests: [request] } as const
  life.do({ _tag: "Lease", now: 1, ...validation })
  life.do({ _tag: "Close", now: 2, cohort: "validation/1", groups: null })
  const [first, second] = life.lease(3, ["a", "b"], "train/1")
  if (first === undefined || second === undefined) throw new Error("two leases were asked for")
  life.reward(4, [{ lease: first.lease, value: 1 }])
  life.do({ _tag: "Seal", now: 5, cohort: "train/1" })
  life.do({ _tag: "Close", now: 6, cohort: "train/1", groups: null })
  life.reward(7, [{ lease: second.lease, value: 0 }])
  life.do({ _tag: "Configure", now: 8, settings: { ...settings, guardrails: ["usd.p95=1"] } })
  const costly = life.lease(
    8,
    Array.from({ length: 60 }, (_, key) => `${key}`),
    "train/2"
  )
  const metrics = { usd: 2 }
  life.do({ _tag: "Reward", now: 9, rewards: costly.map(({ lease }) => ({ lease, sample: 0, value: 1, metrics })) })
  return [...life.log]
}

if (import.meta.main) {
  const [, release = "none"] =
    /^## (\d+\.\d+\.\d+)/mu.exec(readFileSync(new URL("../../../../CHANGELOG.md", import.meta.url), "utf8")) ?? []
  const logs = played().map((log) => ({ events: log.map((event) => encodeEvent(event)), learning: learningOf(log) }))
  writeFileSync(fileOf(release), gzipSync(JSON.stringify({ logs })))
}

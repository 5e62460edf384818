import { assert, describe, it } from "@effect/vitest"
import type { RunEvent } from "@inspo/coevolution"
import { PlainText } from "@inspo/domain"
import { Schema } from "effect"
import { comparison } from "../../src/projection/Comparison.ts"
import { cost } from "../../src/projection/Cost.ts"
import { lineage } from "../../src/projection/Lineage.ts"
import { overview } from "../../src/projection/Overview.ts"
import { population } from "../../src/projection/Population.ts"
import { run, unread } from "../../src/projection/Run.ts"
import { index, instructionText } from "../../src/projection/Trajectories.ts"
import * as RunRecord from "../../src/RunRecord.ts"
import { ComparisonView } from "../../src/view/ComparisonView.ts"
import { CostView } from "../../src/view/CostView.ts"
import { LineageView } from "../../src/view/LineageView.ts"
import { OverviewView } from "../../src/view/OverviewView.ts"
import { PopulationView } from "../../src/view/PopulationView.ts"
import { quietAfter, RunView } from "../../src/view/RunView.ts"
import { config, events, saying } from "../support/Log.ts"

const place = { id: "run", name: "run", directory: "/runs/run" }
const written = { version: "1", at: 0, alive: 0 }
const notes = { baseline: null, wallSeconds: null, degraded: [] }
const at = (end: number) => RunRecord.observe(RunRecord.empty(config), events.slice(0, end))
const End = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: events.length }))
const whole = at(events.length)

const told = <Tag extends RunEvent["_tag"]>(tag: Tag): ReadonlyArray<Extract<RunEvent, { readonly _tag: Tag }>> =>
  events.filter((event): event is Extract<RunEvent, { readonly _tag: Tag }> => event._tag === tag)

const isCandidate = (id: string | null): boolean => id?.startsWith("candidate") === true

describe("views", () => {
  it.prop("can be computed and encoded at any point of a run", [End], ([end]) => {
    const record = at(end)
    const card = run(place, record, written, 0)
    for (const [schema, value] of [
      [RunView, card],
      [OverviewView, overview(card, record, notes)],
      [PopulationView, population(record)],
      [LineageView, lineage(record)],
      [CostView, cost(record, [], notes)],
      [ComparisonView, comparison([{ run: card, record, notes }])]
    ] as const) {
      const codec = Schema.toCodecJson(schema)
      const sent: unknown = JSON.parse(JSON.stringify(Schema.encodeUnknownSync(codec)(value)))
      assert.deepStrictEqual<unknown>(Schema.decodeUnknownSync(codec)(sent), value)
    }
  })

  it("show hidden characters of texts as their code points", () => {
    const record = RunRecord.observe(RunRecord.empty(config), saying("\u009b31m \u202Eback \u200B"))
    const card = run(place, record, written, 0)
    for (const view of [
      overview(card, record, notes),
      population(record),
      lineage(record),
      comparison([{ run: card, record, notes }])
    ]) {
      assert.deepStrictEqual(PlainText.hiddenIn(JSON.stringify(view)), [])
      assert.include(JSON.stringify(view), String.raw`\\u{202e}`)
    }
  })

  it.prop("have the status running only while something is written", [End], ([end]) => {
    const record = at(end)
    const status = (silence: number) => run(place, record, written, silence).status
    const finished = record.state.phase._tag === "Finished"
    assert.strictEqual(status(quietAfter + 1), finished ? "finished" : "quiet")
    assert.strictEqual(status(0), finished ? "finished" : record.rows.length === 0 ? "waiting" : "running")
    assert.strictEqual(unread(place, "no config").status, "unreadable")
  })
})

describe("training rewards", () => {
  it.prop("are shown with their name and the number of answers", [End], ([end]) => {
    const record = RunRecord.observe(
      RunRecord.empty({ ...config, reward: { ...config.reward, kind: { name: "f1" as const } } }),
      events.slice(0, end)
    )
    const { trained } = overview(run(place, record, written, 0), record, notes)
    const groups = events.slice(0, end).flatMap((event) => (event._tag === "RolloutsCollected" ? event.groups : []))
    assert.strictEqual(trained.measure, "F1")
    assert.deepStrictEqual(
      trained.answers,
      Object.fromEntries(
        [...Map.groupBy(groups, ({ dataSource }) => dataSource)].map(([source, own]) => [
          source,
          own.reduce((sum, { rewards }) => sum + rewards.length, 0)
        ])
      )
    )
  })
})

describe("population", () => {
  const { lives, steps } = population(whole)

  it("gives each step probabilities that sum to one", () => {
    for (const index of steps.keys()) {
      const sum = lives.reduce((total, { from, probabilities }) => total + (probabilities[index - from] ?? 0), 0)
      assert.closeTo(sum, 1, 1e-9)
    }
  })

  it("counts every group once", () => {
    const groups = told("RolloutsCollected").reduce((sum, event) => sum + event.groups.length, 0)
    assert.strictEqual(
      lives.reduce((sum, life) => sum + life.groups, 0),
      groups
    )
  })

  it("covers the steps of each instruction in the population", () => {
    for (const { bornAt, from, leftAt, probabilities } of lives) {
      const end = leftAt ?? steps.length
      assert.strictEqual(probabilities.length, end - bornAt)
      if (end > bornAt) assert.strictEqual(steps[from], bornAt + 1)
      assert.isTrue(probabilities.every((probability) => probability !== null))
    }
  })
})

describe("lineage", () => {
  const { best, evolutions, nodes } = lineage(whole)

  it("has an older parent for every node", () => {
    for (const { key, parent, step } of nodes) {
      if (parent === null) continue
      const found = nodes.find(({ id }) => id === parent)
      assert.isDefined(found, key)
      assert.isAtMost(found?.step ?? Infinity, step)
    }
    assert.isTrue(nodes.some(({ id }) => id === best))
    assert.strictEqual(new Set(nodes.map(({ key }) => key)).size, nodes.length)
  })

  it("contains every candidate and every rollout of verification", () => {
    const candidates = told("CandidatesProposed").reduce((sum, event) => sum + event.candidates.length, 0)
    assert.strictEqual(nodes.filter(({ evolution }) => evolution !== null).length, candidates)
    assert.strictEqual(
      evolutions.reduce((sum, { rollouts }) => sum + (rollouts ?? 0), 0),
      whole.state.spent.rollouts.verification
    )
  })
})

describe("trials", () => {
  it("belong to the candidate with their text and scores", () => {
    const { rows } = index(whole.batches)
    const tried = lineage(whole).nodes.filter(({ trial }) => trial !== null)
    assert.strictEqual(new Set(tried.map(({ trial }) => trial)).size, tried.length)
    assert.strictEqual(tried.length, new Set(rows.map(({ instruction }) => instruction).filter(isCandidate)).size)
    for (const { text, trial, verification } of tried) {
      const own = rows.filter(({ instruction }) => instruction === trial)
      assert.strictEqual(own.length, verification?.questions)
      const sum = own.reduce((total, { reward }) => total + reward, 0)
      assert.closeTo(sum / own.length, verification?.mean ?? Number.NaN, 1e-12)
      if (trial !== null) assert.strictEqual(instructionText(whole.lives, [], trial), text)
    }
  })
})

describe("comparison", () => {
  it("finds no difference between a run and itself, and the settings that differ", () => {
    const other = RunRecord.observe(RunRecord.empty({ ...config, randomSeed: 2 }), events)
    const card = run(place, whole, written, 0)
    const { runs, settings } = comparison([
      { run: card, record: whole, notes },
      { run: card, record: other, notes }
    ])
    assert.isNull(runs[0]?.difference)
    assert.deepStrictEqual(settings, [{ name: "randomSeed", values: ["1", "2"] }])
  })
})

/**
 * Logs that between them hold every type of event, as fixtures keep them: from 0.1.0 on, one of each released version. Run as a
 * program, this file writes that of the version on top of CHANGELOG.md; it is final when that version is released.
 */
import { EventLog, makeDecisionContext, type Algorithm, StateHash, Strategies } from "@inspo/coevolution"
import { Question } from "@inspo/domain"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Array as Arr, Effect, Layer, Schema } from "effect"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { gunzipSync, gzipSync } from "node:zlib"
import { algorithm, make, rescuing, runOn, sharing } from "./ScriptedRun.ts"

/** Events as the journal holds them, and the hashes of the states that they led to when they were written. */
const Fixture = Schema.Struct({
  stateHashVersion: Schema.Int,
  logs: Schema.Array(
    Schema.Struct({
      questions: Schema.Array(Schema.Struct({ id: Question.QuestionId, dataSource: Schema.String })),
      events: Schema.Array(Schema.Json),
      states: Schema.Array(Schema.String)
    })
  )
})
export interface Fixture extends Schema.Schema.Type<typeof Fixture> {}

const folder = new URL("../fixtures/", import.meta.url)

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Fixture))

/** The fixture of each version, the newest last. */
export const read = (): Arr.NonEmptyReadonlyArray<Fixture & { readonly release: string }> => {
  const fixtures = readdirSync(folder)
    .flatMap((name) => /^events-(\d+\.\d+\.\d+)\.json\.gz$/u.exec(name)?.[1] ?? [])
    .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((release) => ({ release, ...decode(gunzipSync(readFileSync(fileOf(release))).toString()) }))
  if (!Arr.isReadonlyArrayNonEmpty(fixtures)) throw new Error("there is no fixture: run this file as a program")
  return fixtures
}

const fileOf = (release: string): URL => new URL(`events-${release}.json.gz`, folder)

/** What was played for each of the logs. */
export const played: ReadonlyArray<Algorithm> = [
  { ...algorithm, evaluation: { ...algorithm.evaluation, every: 3 } },
  sharing,
  rescuing,
  // Every attempt succeeds or none is remembered, so that an evolution finds nothing to learn from.
  {
    ...algorithm,
    selection: { ...algorithm.selection, failures: "own", capacitySteps: 1 },
    train: { ...algorithm.train, batchSize: 1 }
  }
]

const record = Effect.fnUntraced(
  function* (settings: Algorithm) {
    const journal = yield* Journal
    yield* runOn(settings, Layer.succeed(Journal, journal))
    const stored = yield* journal.read
    const { data } = yield* make(settings)
    return {
      questions: makeDecisionContext(Strategies.deciding(settings), data).questions,
      events: stored.map(({ payload }) => payload),
      states: (yield* EventLog.readEntries(journal)).flatMap(({ state }) => (state === null ? [] : [state]))
    }
  },
  Effect.provide(layerMemory, { local: true })
)

if (import.meta.main) {
  const changelog = readFileSync(new URL("../../../../CHANGELOG.md", import.meta.url), "utf8")
  const [, release = ""] = /^## (\d+\.\d+\.\d+)/mu.exec(changelog) ?? []
  const logs = await Effect.runPromise(Effect.forEach(played, record))
  writeFileSync(
    fileOf(release),
    gzipSync(JSON.stringify({ stateHashVersion: StateHash.version, logs } satisfies Fixture))
  )
}

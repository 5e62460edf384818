/**
 * Logs that between them hold every type of event, as fixtures keep them. Run as a program, this file writes the one of today
 * again; where the version of an event was raised, keep the former as `events-N.json.gz` first.
 */
import { EventLog, makeSetting, type Algorithm, StateHash, Strategies } from "@inspo/coevolution"
import { Question } from "@inspo/domain"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, Layer, Schema } from "effect"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { gunzipSync, gzipSync } from "node:zlib"
import { algorithm, make, reusing, runOn } from "./ScriptedRun.ts"

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

const today = "events.json.gz"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Fixture))

const readFixture = (name: string): Fixture => decode(gunzipSync(readFileSync(new URL(name, folder))).toString())

export const read = (): Fixture => readFixture(today)

/** The fixtures of former versions. */
export const readFormer = (): ReadonlyArray<Fixture> =>
  readdirSync(folder)
    .filter((name) => /^events-\d+\.json\.gz$/u.test(name))
    .map(readFixture)

/** What was played for each of the logs. */
export const played: ReadonlyArray<Algorithm> = [
  { ...reusing, evaluation: { ...reusing.evaluation, every: 3 } },
  // Every attempt succeeds or none is remembered, so that an evolution finds nothing to learn from.
  {
    ...algorithm,
    buffer: { ...algorithm.buffer, failures: "own", capacitySteps: 1 },
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
      questions: makeSetting(Strategies.deciding(settings), data).questions,
      events: stored.map(({ payload }) => payload),
      states: (yield* EventLog.readEntries(journal)).flatMap(({ state }) => (state === null ? [] : [state]))
    }
  },
  Effect.provide(layerMemory, { local: true })
)

if (import.meta.main) {
  const logs = await Effect.runPromise(Effect.forEach(played, record))
  writeFileSync(
    new URL(today, folder),
    gzipSync(JSON.stringify({ stateHashVersion: StateHash.version, logs } satisfies Fixture))
  )
}

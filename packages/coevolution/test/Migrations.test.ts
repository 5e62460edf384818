import { assert, describe, it } from "@effect/vitest"
import {
  apply,
  EventLog,
  Migrations,
  Policies,
  Presets,
  RunConfig,
  RunEvents,
  RunState,
  StateHash
} from "@inspo/coevolution"
import { journalVersion, Journal } from "@inspo/journal"
import { layer } from "@inspo/journal/sqlite"
import { Effect, Layer, Predicate, Schema } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import * as EventsOfAllTypes from "./support/EventsOfAllTypes.ts"
import { config, runOn } from "./support/ScriptedRun.ts"

const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url))
const decodeConfig = Schema.decodeUnknownEffect(RunConfig)

/** A run on the scripted engine that was stopped after 21 events, written by journals of version 1. */
const stopped = Effect.acquireRelease(
  Effect.sync(() => {
    const directory = mkdtempSync(join(tmpdir(), "inspo-migration-"))
    const file = join(directory, "journal.sqlite")
    writeFileSync(file, gunzipSync(fixture("journal-1-stopped.sqlite.gz")))
    return { directory, file }
  }),
  ({ directory }) => Effect.sync(() => rmSync(directory, { recursive: true }))
).pipe(Effect.map(({ file }) => file))

const leaves = (node: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  Predicate.isObjectKeyword(node) && !Array.isArray(node)
    ? Object.entries(node).flatMap(([key, value]) => leaves(value, [...path, key]))
    : [path.join(".")]

describe("a config of an earlier version", () => {
  it.effect("is completed with the values under which a run behaves as it did", () =>
    Effect.gen(function* () {
      const first: unknown = JSON.parse(fixture("config-1.json").toString())
      const known = new Set([
        ...leaves(first),
        ...Migrations.laterKeys.flatMap(({ path, value }) => leaves(value, path))
      ])
      const missing = leaves(Presets.robust).filter((leaf) => !known.has(leaf))
      assert.deepStrictEqual(missing, [], "add these keys to Migrations.laterKeys")
      const today = yield* decodeConfig(Migrations.completeConfig(first))
      assert.deepStrictEqual(Migrations.completeConfig(today), today)
      assert.strictEqual(today.proposer.kind, "reflection")
    })
  )

  it.each([null, 1, "text", [1], { population: 3 }])("stays what it is where it is none: %j", (other) => {
    const completed = Migrations.completeConfig(other)
    if (Predicate.hasProperty(other, "population")) assert.deepInclude(completed, { population: 3 })
    else assert.deepStrictEqual(completed, other)
  })
})

describe("a journal of an earlier version", () => {
  it.effect("is read as it is, continued to the end and migrated by that", () =>
    Effect.gen(function* () {
      const file = yield* stopped
      const before = readFileSync(file)
      const readOnly = Journal.use((journal) =>
        Effect.gen(function* () {
          assert.strictEqual(journal.meta.journalVersion, 1)
          assert.isNotEmpty(yield* journal.listRecords("trajectory"))
          assert.deepStrictEqual(yield* journal.ledger, [])
          return yield* EventLog.read(journal)
        })
      ).pipe(Effect.provide(layer({ file, mode: "read-only" }), { local: true }))
      const events = yield* readOnly
      assert.lengthOf(events, 21)
      assert.deepStrictEqual(readFileSync(file), before)

      const [started] = events
      const stored = started?._tag === "RunStarted" ? started.config : config
      const state = yield* runOn(stored, Layer.orDie(layer({ file, mode: "open" })))
      assert.strictEqual(state.phase._tag, "Finished")

      const migrated = Journal.use((journal) =>
        Effect.gen(function* () {
          assert.strictEqual(journal.meta.journalVersion, journalVersion)
          const all = yield* EventLog.readEntries(journal)
          assert.deepStrictEqual(
            all.slice(0, events.length).map(({ event }) => event),
            events
          )
          assert.deepStrictEqual(
            all.map(({ state }) => state !== null),
            all.map((_, index) => index >= events.length)
          )
        })
      ).pipe(Effect.provide(layer({ file, mode: "read-only" }), { local: true }))
      yield* migrated
    }).pipe(Effect.scoped)
  )
})

describe("events as they were written", () => {
  const { logs, stateHashVersion } = EventsOfAllTypes.read()
  const decodeEvent = Schema.decodeUnknownEffect(RunEvents.RunEvent)

  it("are kept of every type", () => {
    const kept = new Set(
      logs.flatMap(({ events }) => events).map((event) => Predicate.hasProperty(event, "_tag") && event._tag)
    )
    for (const { fields } of RunEvents.RunEvent.members) assert.isTrue(kept.has(fields._tag.schema.literal))
  })

  it.effect("are read, and lead to the states that they led to, or to hashes of a higher version", () =>
    Effect.forEach(
      logs,
      Effect.fnUntraced(function* ({ events, questions, states }) {
        const decoded = yield* Effect.forEach(events, (event) => decodeEvent(Migrations.completeEvent(event)))
        const [started] = decoded
        if (started?._tag !== "RunStarted") return assert.fail("a log begins with RunStarted")
        const setting = { config: started.config, policies: Policies.fromConfig(started.config), questions }
        let state = RunState.unstarted
        for (const [index, event] of decoded.entries()) {
          state = apply(setting, state, event)
          const hash = yield* StateHash.of(state)
          assert.isFalse(
            StateHash.differ(hash, states[index] ?? ""),
            `${event._tag} leads to another state: raise StateHash.version above ${stateHashVersion}, ` +
              "and write the fixture anew with test/support/EventsOfAllTypes.ts"
          )
        }
        assert.strictEqual(
          stateHashVersion,
          StateHash.version,
          "write the fixture anew with test/support/EventsOfAllTypes.ts"
        )
      })
    )
  )
})

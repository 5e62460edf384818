import { assert, describe, it } from "@effect/vitest"
import { AlgorithmDiff, apply, EventLog, Migrations, RunEvents, RunState, StateHash } from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layer, layerMemory } from "@inspo/journal/sqlite"
import { Effect, Layer, Predicate, Result, Schema } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import * as EventsOfAllTypes from "./support/EventsOfAllTypes.ts"
import { algorithm, runOn } from "./support/ScriptedRun.ts"

const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url))

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

const decodeEvent = Schema.decodeUnknownEffect(RunEvents.RunEvent)

const decodeJson = Schema.decodeUnknownEffect(Schema.Json)

/** An event with a value at a path. */
const laid = (node: unknown, [key, ...rest]: ReadonlyArray<string>, value: unknown): unknown =>
  key === undefined
    ? value
    : {
        ...(Predicate.isObject(node) ? node : {}),
        [key]: laid(Predicate.hasProperty(node, key) ? node[key] : {}, rest, value)
      }

const typeOf = (event: unknown): string =>
  Predicate.hasProperty(event, "_tag") && typeof event._tag === "string" ? event._tag : "none"

const versionOf = (event: unknown): number =>
  Predicate.hasProperty(event, "version") && typeof event.version === "number" ? event.version : 1

describe("a journal of an earlier version", () => {
  it.effect("is refused for reading and for writing, untouched, with the remedy", () =>
    Effect.gen(function* () {
      const file = yield* stopped
      const before = readFileSync(file)
      const reading = yield* Journal.use(EventLog.read).pipe(
        Effect.provide(layer({ file, mode: "read-only" }), { local: true }),
        Effect.flip
      )
      const going = yield* Effect.flip(runOn(algorithm, Layer.orDie(layer({ file, mode: "open" }))))
      for (const error of [reading, going]) {
        assert.strictEqual(error._tag, "JournalError")
        assert.match(error.message, /event 0: this RunStarted is of version 1, and this program knows 3/u)
        assert.match(error.message, /the version that wrote it, or start it again from its config\.json/u)
      }
      const events = yield* Effect.provide(
        Journal.use((journal) => journal.read),
        layer({ file, mode: "read-only" }),
        { local: true }
      )
      assert.lengthOf(events, 21)
      assert.isNotEmpty(before)
    }).pipe(Effect.scoped)
  )
})

describe("events as they were written", () => {
  const { logs, stateHashVersion } = EventsOfAllTypes.read()
  const former = EventsOfAllTypes.readFormer()

  const store = Effect.fnUntraced(
    function* (event: Schema.Json, type = typeOf(event)) {
      const journal = yield* Journal
      yield* journal.append([{ type, step: 0, payload: event }])
      return yield* EventLog.read(journal)
    },
    Effect.provide(layerMemory, { local: true })
  )

  const isRead = (fixture: EventsOfAllTypes.Fixture): boolean =>
    fixture.logs.every(({ events }) =>
      events.every(
        (event) =>
          new Map(Object.entries(RunEvents.versions)).get(typeOf(event)) === versionOf(event) ||
          Migrations.isUpgradable(typeOf(event), versionOf(event))
      )
    )

  it.effect("hold a config of version 2 as the algorithm that it was, and what it searched", () =>
    Effect.gen(function* () {
      const stored = former
        .filter(isRead)
        .flatMap((fixture) => fixture.logs.flatMap(({ events }) => events.slice(0, 1)))
      assert.isNotEmpty(stored)
      for (const event of stored) {
        const searched = (url: string | null) => laid(event, ["config", "retrieval", "url"], url)
        const [here] = yield* store(yield* decodeJson(searched(null)))
        const [there] = yield* store(yield* decodeJson(searched("http://127.0.0.1:1")))
        if (here?._tag !== "RunStarted" || there?._tag !== "RunStarted") return assert.fail("it is another event")
        assert.deepStrictEqual(AlgorithmDiff.of(here.algorithm, there.algorithm), [])
        assert.deepStrictEqual([here.search, there.search], ["passages", "server"])
        assert.notProperty(here.algorithm, "budget")
        assert.notProperty(here.algorithm.engine, "url")
      }
    })
  )

  it.effect("are gone on from as if they were of today", () =>
    Effect.gen(function* () {
      const log = former.findLast(isRead)?.logs[1]
      const settings = EventsOfAllTypes.played[1] ?? algorithm
      const journal = yield* Journal
      for (const event of log?.events.slice(0, 2) ?? [])
        yield* journal.append([{ type: typeOf(event), step: 0, payload: event }])
      assert.lengthOf(yield* EventLog.read(journal), 2)
      yield* runOn(settings, Layer.succeed(Journal, journal))
      const today = yield* Effect.forEach(logs[1]?.events ?? [], (event) =>
        decodeEvent(Result.getOrThrow(Migrations.completeEvent(event)))
      )
      assert.deepStrictEqual((yield* EventLog.read(journal)).slice(1), today.slice(1))
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it("are kept of every type in every version", () => {
    const kept = new Set(
      [{ logs }, ...former].flatMap((fixture) =>
        fixture.logs.flatMap(({ events }) => events.map((event) => `${typeOf(event)} ${versionOf(event)}`))
      )
    )
    for (const [type, version] of Object.entries(RunEvents.versions))
      for (let one = 1; one <= version; one++) assert.isTrue(kept.has(`${type} ${one}`), `${type} ${one}`)
  })

  it.effect("are read in the version of today and in those that say as much, and refused in any other", () =>
    Effect.forEach(
      [{ logs }, ...former].flatMap((fixture) => fixture.logs.flatMap(({ events }) => events)),
      Effect.fnUntraced(function* (event) {
        const known = new Map(Object.entries(RunEvents.versions)).get(typeOf(event)) ?? NaN
        const result = yield* Effect.result(store(event))
        if (versionOf(event) === known || Migrations.isUpgradable(typeOf(event), versionOf(event)))
          return Result.isFailure(result)
            ? assert.include(result.failure.message, "in the version that wrote it", typeOf(event))
            : undefined
        if (Result.isSuccess(result)) return assert.fail(`${typeOf(event)} of version ${versionOf(event)} is read`)
        assert.strictEqual(result.failure.reason, "older-version")
        assert.include(result.failure.message, "start it again from its config.json")
      }),
      { discard: true }
    )
  )

  it.effect("of a type or version that is not known yet are left to the version that wrote them", () =>
    Effect.gen(function* () {
      const event = { _tag: "EvolutionSkipped", step: 1, reason: "nothing to learn from" }
      for (const [stored, type] of [
        [event, "SomethingNew"],
        [{ ...event, version: 99 }, undefined]
      ] as const) {
        const refused = yield* Effect.flip(store(stored, type))
        assert.strictEqual(refused.reason, "newer-version")
        assert.include(refused.message, "Use the version that wrote it")
      }
    })
  )

  it.effect("are read, and lead to the states that they led to, or to hashes of a higher version", () =>
    Effect.forEach(
      [{ logs, stateHashVersion }, ...former].filter(isRead).flatMap((fixture) => fixture.logs),
      Effect.fnUntraced(function* ({ events, questions, states }) {
        const decoded = yield* Effect.forEach(events, (event) =>
          decodeEvent(Result.getOrThrow(Migrations.completeEvent(event)))
        )
        const [started] = decoded
        if (started?._tag !== "RunStarted") return assert.fail("a log begins with RunStarted")
        const setting = { algorithm: started.algorithm, questions }
        let state = RunState.unstarted
        for (const [index, event] of decoded.entries()) {
          state = apply(setting, state, event)
          const hash = yield* StateHash.of(state)
          assert.isFalse(
            StateHash.differ(hash, states[index] ?? ""),
            `${event._tag} leads to another state: raise StateHash.version above ${stateHashVersion}, ` +
              "and write the fixture again with test/support/EventsOfAllTypes.ts"
          )
        }
        assert.strictEqual(
          stateHashVersion,
          StateHash.version,
          "write the fixture again with test/support/EventsOfAllTypes.ts"
        )
      })
    )
  )
})

import { assert, describe, it } from "@effect/vitest"
import { apply, EventLog, RunEvents, RunState, StateHash } from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Array as Arr, Effect, Layer, Predicate, Schema } from "effect"
import { readFileSync } from "node:fs"
import * as EventsOfAllTypes from "./support/EventsOfAllTypes.ts"
import { algorithm, runOn } from "./support/ScriptedRun.ts"

const decodeEvent = Schema.decodeUnknownEffect(RunEvents.RunEvent)

const typeOf = (event: Schema.Json): string =>
  Predicate.hasProperty(event, "_tag") && typeof event._tag === "string" ? event._tag : "none"

const versionOf = (event: Schema.Json): unknown => (Predicate.hasProperty(event, "version") ? event.version : undefined)

const known = new Map<string, number>(Object.entries(RunEvents.versions))

const isOfToday = (event: Schema.Json): boolean => known.get(typeOf(event)) === versionOf(event)

const read = Effect.fnUntraced(
  function* (payload: Schema.Json, type = typeOf(payload)) {
    const journal = yield* Journal
    yield* journal.append([{ type, step: 0, payload }])
    return yield* EventLog.read(journal)
  },
  Effect.provide(layerMemory, { local: true })
)

const refusal = "Start again with this version of inspo, or use the version that wrote the journal"

describe("events as released versions wrote them", () => {
  const fixtures = EventsOfAllTypes.read()
  const events = fixtures.flatMap(({ logs }) => logs.flatMap((log) => log.events))

  it("are kept for each version of the changelog, those of the newest of every type", () => {
    const changelog = readFileSync(new URL("../../../CHANGELOG.md", import.meta.url), "utf8")
    assert.sameMembers(
      fixtures.map(({ release }) => release),
      Array.from(changelog.matchAll(/^## (\d+\.\d+\.\d+)/gmu), ([, version]) => version),
      "write a fixture with test/support/EventsOfAllTypes.ts"
    )
    assert.sameMembers(
      [...new Set(Arr.lastNonEmpty(fixtures).logs.flatMap((log) => log.events.map(typeOf)))],
      Object.keys(RunEvents.versions)
    )
    assert.isTrue(Arr.lastNonEmpty(fixtures).logs.every((log) => log.events.every(isOfToday)))
  })

  it.effect("are read in the versions of today, and refused in any other", () =>
    Effect.forEach(
      events,
      Effect.fnUntraced(function* (event) {
        if (isOfToday(event)) return assert.lengthOf(yield* read(event), 1)
        assert.strictEqual((yield* Effect.flip(read(event))).reason, "other-version")
      }),
      { discard: true }
    )
  )

  it.effect("lead to the states that they led to, or to hashes of a higher version", () =>
    Effect.forEach(
      fixtures.flatMap(({ logs }) => logs.filter((log) => log.events.every(isOfToday))),
      Effect.fnUntraced(function* ({ events, questions, states }) {
        const [started, ...rest] = yield* Effect.forEach(events, (event) => decodeEvent(event))
        if (started?._tag !== "RunStarted") return assert.fail("a log begins with RunStarted")
        const setting = { algorithm: started.algorithm, questions }
        let state = RunState.unstarted
        for (const [index, event] of [started, ...rest].entries()) {
          state = apply(setting, state, event)
          assert.isFalse(
            StateHash.differ(yield* StateHash.of(state), states[index] ?? ""),
            `${event._tag} leads to another state: raise StateHash.version, and write the fixture of the version that is not ` +
              "released yet again with test/support/EventsOfAllTypes.ts"
          )
        }
      })
    )
  )
})

describe("a journal of another format", () => {
  const event = { _tag: "EvolutionSkipped", step: 1, reason: "nothing to learn from" }

  it.effect.each([
    [{ ...event, version: 99 }, undefined, "EvolutionSkipped.version is 99, expected 1"],
    [{ ...event, version: 0 }, undefined, "EvolutionSkipped.version is 0, expected 1"],
    [event, undefined, "EvolutionSkipped.version is missing, expected 1"],
    [event, "SomethingNew", 'type is "SomethingNew", expected an event type that this version writes']
  ] as const)("is refused with the field, its value, what is expected and the remedy: %#", ([stored, type, problem]) =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(read(stored, type))
      assert.strictEqual(refused.reason, "other-version")
      assert.include(refused.message, `event 0: ${problem}. ${refusal}`)
    })
  )

  it.effect("is not gone on from, and stays what it is", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* journal.append([{ type: event._tag, step: 0, payload: event }])
      const before = yield* journal.read
      const refused = yield* Effect.flip(runOn(algorithm, Layer.succeed(Journal, journal)))
      assert.include(refused.message, refusal)
      assert.deepStrictEqual(yield* journal.read, before)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})

import { assert, describe, it } from "@effect/vitest"
import { EventLog, Presets, Replay, type Algorithm, type RunEvent, Strategies } from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, Fiber, Layer, Schema } from "effect"
import * as DropTheLast from "../../../examples/own-strategy/DropTheLast.ts"
import { algorithm, make, runOn } from "./support/ScriptedRun.ts"

const own = (settings: Algorithm) =>
  Layer.merge(Strategies.layer(settings), DropTheLast.layer(settings.population.parents))

const prunes = (events: ReadonlyArray<RunEvent>) =>
  events.flatMap((event) => (event._tag === "Pruned" ? [event.pruned.length] : []))

const recorded = Effect.fnUntraced(function* (strategies: Layer.Layer<Strategies.Services>) {
  const journal = yield* Journal
  yield* runOn(algorithm, Layer.succeed(Journal, journal), undefined, { strategies })
  return yield* EventLog.read(journal)
})

describe("the strategies of an algorithm", () => {
  it("have the names of what they do, and other parameters make another identity", () => {
    const { admission, buffer, removal, sampler, verification, valuation } = Strategies.identities(
      Strategies.ofAlgorithm(Presets.robust)
    )
    assert.deepStrictEqual(
      [valuation, sampler, removal, admission, buffer, verification].map(({ name }) => name),
      ["comparison", "thompson", "evidence", "evidence", "ring", "untried"]
    )
    const changed: Algorithm = { ...Presets.robust, selection: { ...Presets.robust.selection, risk: 0.01 } }
    assert.deepStrictEqual(Strategies.foreign(changed, Strategies.identities(Strategies.ofAlgorithm(Presets.robust))), [
      { part: "removal", identity: removal },
      { part: "admission", identity: admission }
    ])
    assert.deepStrictEqual(Strategies.foreign(changed, null), [])
  })

  it.effect("are what their layer provides", () =>
    Effect.gen(function* () {
      const provided = yield* Effect.provide(Strategies.fromContext, Strategies.layer(Presets.paper))
      assert.deepStrictEqual(
        Strategies.identities(provided),
        Strategies.identities(Strategies.ofAlgorithm(Presets.paper))
      )
    })
  )
})

describe("a strategy of one's own", () => {
  it.effect("decides in place of the one that the algorithm names, and the run says so", () =>
    Effect.gen(function* () {
      const [usual, events] = yield* Effect.all(
        [Strategies.layer(algorithm), own(algorithm)].map((strategies) =>
          Effect.provide(recorded(strategies), layerMemory, { local: true })
        )
      )
      const started = events?.[0]
      if (started?._tag !== "RunStarted") return assert.fail("a log begins with RunStarted")
      assert.deepStrictEqual(Strategies.foreign(algorithm, started.strategies), [
        { part: "removal", identity: { name: "drop-the-last", parameters: { parents: 1 } } }
      ])
      assert.notDeepEqual(prunes(events ?? []), prunes(usual ?? []))
      for (const pruned of prunes(events ?? [])) assert.strictEqual(pruned, 1)
    })
  )

  it.effect.prop(
    "goes on after a stop to the same events, and under any other is refused",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))],
    ([stopAfter]) =>
      Effect.gen(function* () {
        const whole = yield* Effect.provide(recorded(own(algorithm)), layerMemory, { local: true })
        const journal = yield* Journal
        const stored = Layer.succeed(Journal, journal)
        let committed = 0
        yield* runOn(algorithm, stored, () => (++committed > stopAfter ? Effect.interrupt : Effect.void), {
          strategies: own(algorithm)
        }).pipe(Effect.forkChild, Effect.flatMap(Fiber.await))
        const refused = yield* Effect.flip(runOn(algorithm, stored))
        assert.include(
          refused.message,
          "the rule of removal is bottom-half (parents 1, floor 0, ties evidence), but was " +
            "drop-the-last (parents 1) when the run began; continue in a program that provides the original one"
        )
        yield* runOn(algorithm, stored, undefined, { strategies: own(algorithm) })
        assert.deepStrictEqual(yield* EventLog.read(journal), whole)
      }).pipe(Effect.provide(layerMemory, { local: true })),
    { arbitrary: { runs: 4 } }
  )

  it.effect("replays where it is provided, and is refused where it is not", () =>
    Effect.gen(function* () {
      yield* recorded(own(algorithm))
      const entries = yield* EventLog.readEntries(yield* Journal)
      const { data } = yield* make(algorithm)
      const replay = Replay.replay({ algorithm, data, entries })
      assert.isNull((yield* Effect.provide(replay, own(algorithm))).difference)
      const refused = yield* Effect.flip(Effect.provide(replay, Strategies.layer(algorithm)))
      assert.include(refused.message, "drop-the-last")
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})

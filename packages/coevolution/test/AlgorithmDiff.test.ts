import { assert, describe, it } from "@effect/vitest"
import { type Algorithm, AlgorithmDiff, EventLog, Presets } from "@inspo/coevolution"
import { Ledger } from "@inspo/ledger"
import type { Engine } from "@inspo/engine"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, Equal, Fiber, Layer, Predicate, Schema } from "effect"
import { algorithm, type Replaced, runOn } from "./support/ScriptedRun.ts"

const isSection = (node: unknown): node is Readonly<Record<string, unknown>> =>
  Predicate.isObjectKeyword(node) && !Array.isArray(node)

const leaves = (node: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  isSection(node) ? Object.entries(node).flatMap(([key, value]) => leaves(value, [...path, key])) : [path.join(".")]

const at = (node: unknown, name: string): unknown =>
  name.split(".").reduce((inner, key) => (isSection(inner) ? inner[key] : undefined), node)

const presets = Object.values(Presets.byName)

/** A preset, and which settings are other ones. */
const Change = Schema.Struct({
  preset: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: presets.length - 1 })),
  contextLength: Schema.NullOr(Schema.Literals([100, 200])),
  mix: Schema.NullOr(Schema.Record(Schema.Literals(["hard", "easy"]), Schema.Finite)),
  temperature: Schema.Literals([0.2, 0.5])
})

const changed = ({ contextLength, preset, temperature, mix }: typeof Change.Type): Algorithm => {
  const run = presets[preset] ?? algorithm
  return {
    ...run,
    engine: { ...run.engine, contextLength },
    data: { ...run.data, mix },
    selection: { ...run.selection, temperature }
  }
}

describe("AlgorithmDiff", () => {
  it.prop("names exactly the settings that differ", [Change, Change], ([one, other]) => {
    const [before, after] = [changed(one), changed(other)]
    const told = new Set(AlgorithmDiff.of(before, after).map(({ field }) => field))
    for (const name of new Set([...leaves(before), ...leaves(after)])) {
      const [a, b] = [at(before, name), at(after, name)]
      // A mapping on one side only is told as a whole.
      if (isSection(a) || isSection(b) || a === undefined || b === undefined) continue
      assert.strictEqual(told.has(name), !Equal.equals(a, b), name)
    }
    assert.deepStrictEqual(AlgorithmDiff.of(before, before), [])
  })
})

describe("a continued run", () => {
  it.effect.prop(
    "has the same events under other limits, and on an engine of another concurrency",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })),
      Schema.Int.check(Schema.isBetween({ minimum: 16, maximum: 64 }))
    ],
    ([stopAfter, concurrency]) =>
      Effect.gen(function* () {
        const whole = yield* undisturbed
        const journal = yield* Journal
        let committed = 0
        yield* runOn(algorithm, Layer.succeed(Journal, journal), () =>
          ++committed > stopAfter ? Effect.interrupt : Effect.void
        ).pipe(Effect.forkChild, Effect.flatMap(Fiber.await))
        yield* runOn(algorithm, Layer.succeed(Journal, journal), undefined, {
          budget: { ...Ledger.unlimited, tokens: 1_000_000_000 },
          engine: (engine) => ({ ...engine, profile: { ...engine.profile, concurrency } })
        })
        assert.deepStrictEqual(yield* EventLog.read(journal), whole)
      }).pipe(Effect.provide(layerMemory, { local: true })),
    { arbitrary: { runs: 3 } }
  )

  it.effect("is refused as another algorithm, engine, tokenizer, data set or search, by its name", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* runOn(algorithm, Layer.succeed(Journal, journal))
      const whole = yield* EventLog.read(journal)
      const warmer = { ...algorithm, selection: { ...algorithm.selection, temperature: 0.3 } }
      const engine = (change: (known: Engine.Interface) => Partial<Engine.Interface>): Replaced => ({
        engine: (known) => ({ ...known, ...change(known) })
      })
      const others: ReadonlyArray<readonly [string, Algorithm, Replaced]> = [
        ["selection.temperature is 0.3, but was 0.2", warmer, {}],
        [
          "the engine is not the one that the run began with (another, expected ",
          algorithm,
          engine(({ profile }) => ({ profile: { ...profile, fingerprint: "another" } }))
        ],
        [
          "the tokenizer is not the one that the run began with (",
          algorithm,
          engine(({ tokenizer }) => ({
            tokenizer: { ...tokenizer, prompt: (messages) => [1, ...tokenizer.prompt(messages)] }
          }))
        ],
        [
          "the data set is not the one that the run began with (other, expected ",
          algorithm,
          { data: { fingerprint: "other" } }
        ],
        [
          "the search corpus is not the one that the run began with (server, expected passages)",
          algorithm,
          { data: { search: "server" } }
        ]
      ]
      for (const [expected, other, replaced] of others) {
        const error = yield* Effect.flip(runOn(other, Layer.succeed(Journal, journal), undefined, replaced))
        assert.include(error.message, expected)
        assert.deepStrictEqual(yield* EventLog.read(journal), whole)
      }
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})

const undisturbed = Effect.gen(function* () {
  const journal = yield* Journal
  yield* runOn(algorithm, Layer.succeed(Journal, journal))
  return yield* EventLog.read(journal)
}).pipe(Effect.provide(layerMemory, { local: true }))

import { assert, describe, it } from "@effect/vitest"
import { ConfigParts, EventLog, Presets, type RunConfig } from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, Equal, Fiber, Layer, Predicate, Schema } from "effect"
import { config, runOn } from "./support/ScriptedRun.ts"

const isSection = (node: unknown): node is Readonly<Record<string, unknown>> =>
  Predicate.isObjectKeyword(node) && !Array.isArray(node)

const leaves = (node: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  isSection(node) ? Object.entries(node).flatMap(([key, value]) => leaves(value, [...path, key])) : [path.join(".")]

const at = (node: unknown, name: string): unknown =>
  name.split(".").reduce((inner, key) => (isSection(inner) ? inner[key] : undefined), node)

const isLabel = (value: unknown) => value === "algorithm" || value === "environment" || value === "address"

/** The config with other values for everything that may change on the way, as far as it is chosen. */
const moved = (run: RunConfig, chosen: number): RunConfig => {
  const on = (place: number) => ((chosen >> place) & 1) === 1
  return {
    ...run,
    ...(on(0) ? { engine: { ...run.engine, workers: 3, concurrency: 5 } } : {}),
    ...(on(1) ? { requests: { retries: 9, timeoutSeconds: 7 } } : {}),
    ...(on(2) ? { keys: { ...run.keys, engine: "KEY", retrieval: "KEY" } } : {}),
    ...(on(3) ? { engine: { ...run.engine, concurrency: 7 } } : {}),
    ...(on(4) ? { budget: { ...run.budget, tokens: 1_000_000_000 } } : {}),
    ...(on(5) ? { evaluation: { ...run.evaluation, baseline: false } } : {}),
    ...(on(6) ? { journal: { ...run.journal, run: "another" } } : {})
  }
}

const presets = Object.values(Presets.byName)

/** A preset, and which settings are other ones. */
const Change = Schema.Struct({
  preset: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: presets.length - 1 })),
  moved: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 127 })),
  optimizerUrl: Schema.NullOr(Schema.String),
  weights: Schema.NullOr(Schema.Record(Schema.Literals(["hard", "easy"]), Schema.Finite)),
  temperature: Schema.Literals([0.2, 0.5])
})

const changed = (change: typeof Change.Type): RunConfig => {
  const run = moved(presets[change.preset] ?? config, change.moved)
  return {
    ...run,
    optimizer: { ...run.optimizer, url: change.optimizerUrl },
    data: { ...run.data, weights: change.weights },
    sampler: { ...run.sampler, temperature: change.temperature }
  }
}

describe("ConfigParts", () => {
  it("classes every setting, and nothing else", () => {
    const classed = leaves(ConfigParts.parts)
    for (const name of classed) {
      assert.isDefined(at(Presets.robust, name), `${name} is no setting`)
      assert.isTrue(isLabel(at(ConfigParts.parts, name)), name)
    }
    for (const leaf of leaves(Presets.robust))
      assert.isTrue(
        classed.some((name) => leaf === name || leaf.startsWith(`${name}.`)),
        `${leaf} is in no part`
      )
  })

  it.prop("tells exactly the settings that differ and decide results", [Change, Change], ([one, other]) => {
    const [before, after] = [changed(one), changed(other)]
    const told = new Set(ConfigParts.differences(before, after).map(({ field }) => field))
    for (const name of new Set([...leaves(before), ...leaves(after)])) {
      const [a, b] = [at(before, name), at(after, name)]
      // A mapping on one side only is told as a whole.
      if (isSection(a) || isSection(b) || a === undefined || b === undefined) continue
      const part = ConfigParts.partOf(name)
      const differs =
        !Equal.equals(a, b) && (part === "algorithm" || (part === "address" && (a === null) !== (b === null)))
      assert.strictEqual(told.has(name), differs, name)
    }
    assert.deepStrictEqual(ConfigParts.differences(before, before), [])
  })

  it.effect.prop(
    "lets a stopped run go on to the same events under settings that decide no results",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })),
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 127 }))
    ],
    ([stopAfter, chosen]) =>
      Effect.gen(function* () {
        const whole = yield* undisturbed
        const journal = yield* Journal
        let committed = 0
        yield* runOn(config, Layer.succeed(Journal, journal), () =>
          ++committed > stopAfter ? Effect.interrupt : Effect.void
        ).pipe(Effect.forkChild, Effect.flatMap(Fiber.await))
        yield* runOn(moved(config, chosen), Layer.succeed(Journal, journal))
        assert.deepStrictEqual(yield* EventLog.read(journal), whole)
      }).pipe(Effect.provide(layerMemory, { local: true })),
    { arbitrary: { runs: 6 } }
  )

  it.effect("names the setting by which a run would become another", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* runOn(config, Layer.succeed(Journal, journal))
      const refused = (other: RunConfig) =>
        Effect.map(Effect.flip(runOn(other, Layer.succeed(Journal, journal))), ({ message }) => message)
      assert.include(
        yield* refused({ ...config, sampler: { ...config.sampler, temperature: 0.3 } }),
        "sampler.temperature is 0.3, but was 0.2"
      )
      assert.include(
        yield* refused({ ...config, retrieval: { ...config.retrieval, url: "http://elsewhere" } }),
        'retrieval.url is "http://elsewhere", but was null'
      )
      assert.deepStrictEqual(
        ConfigParts.differences(
          { ...config, engine: { ...config.engine, url: "http://here" } },
          { ...config, engine: { ...config.engine, url: "http://there" } }
        ),
        []
      )
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})

const undisturbed = Effect.gen(function* () {
  const journal = yield* Journal
  yield* runOn(config, Layer.succeed(Journal, journal))
  return yield* EventLog.read(journal)
}).pipe(Effect.provide(layerMemory, { local: true }))

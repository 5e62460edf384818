import { assert, describe, it } from "@effect/vitest"
import { Migrations } from "@inspo/coevolution"
import { complete, Presets, RunConfig } from "@inspo/config"
import { Effect, Predicate, Result, Schema } from "effect"
import { readFileSync } from "node:fs"

const decodeConfig = Schema.decodeUnknownEffect(RunConfig)

const completed = (config: unknown): unknown => Result.getOrThrow(complete(config))

const leaves = (node: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  Predicate.isObjectKeyword(node) && !Array.isArray(node)
    ? Object.entries(node).flatMap(([key, value]) => leaves(value, [...path, key]))
    : [path.join(".")]

/** A config with a value at a path. */
const laid = (node: unknown, [key, ...rest]: ReadonlyArray<string>, value: unknown): unknown =>
  key === undefined
    ? value
    : {
        ...(Predicate.isObject(node) ? node : {}),
        [key]: laid(Predicate.hasProperty(node, key) ? node[key] : {}, rest, value)
      }

describe("a config of an earlier version", () => {
  it.effect("is completed with the values under which a run behaves as it did", () =>
    Effect.gen(function* () {
      const first: unknown = JSON.parse(readFileSync(new URL("fixtures/config-1.json", import.meta.url), "utf8"))
      const known = new Set(leaves(completed(first)))
      const missing = leaves(Presets.robust).filter((leaf) => !known.has(leaf))
      assert.deepStrictEqual(missing, [], "add these keys to Migrations.laterKeys")
      const today = yield* decodeConfig(completed(first))
      assert.deepStrictEqual(completed(today), today)
      assert.strictEqual(today.proposer.kind, "reflection")
    })
  )

  const independent = Migrations.removedKeys.filter(({ path, unless }) => unless === undefined && !path.endsWith("Env"))
  describe.each(independent.map((one) => [one.path, one] as const))("loses %s", (path, { values }) => {
    const stored = (value: unknown) => laid(Presets.quick, path.split("."), value)

    it("where a run behaves as it did", () => {
      for (const value of values ?? ["anything", 3, { some: "section" }])
        assert.deepStrictEqual<unknown>(completed(stored(value)), Presets.quick)
    })

    it.runIf(values !== undefined)("and is refused where it does not, by its name and with the remedy", () => {
      const refused = Result.flip(complete(stored("something else")))
      if (Result.isFailure(refused)) return assert.fail("it is read")
      assert.strictEqual(refused.success.field, path)
      assert.include(refused.success.message, "in the version that wrote it")
    })

    it("and is none of today", () => {
      assert.notInclude(leaves(Presets.quick), path)
    })
  })

  it("names variables, the model and the server as it did", () => {
    const { keys, ...rest } = Presets.quick
    const engine = { ...rest.engine, apiKeyEnv: "ENGINE", protocol: "tinker", baseModel: null }
    const former = (changes: object, others: object = {}) =>
      completed({
        ...rest,
        engine: { ...engine, ...changes },
        journal: { ...rest.journal, passwordEnv: "PASSWORD" },
        ...others
      })
    const named = { ...keys, engine: "ENGINE", journal: "PASSWORD" }
    assert.deepStrictEqual<unknown>(former({ model: "folder" }), {
      ...rest,
      engine: { ...rest.engine, model: "folder" },
      keys: named
    })
    const url = "http://127.0.0.1:1"
    assert.deepStrictEqual<unknown>(former({ url, model: "folder", baseModel: "m", protocol: "completions" }), {
      ...rest,
      engine: { ...rest.engine, url, model: "m", tokenizer: "folder", profile: "completions" },
      keys: named
    })
    const { texts, ...rollout } = rest.rollout
    const { role, ...said } = texts
    assert.deepStrictEqual<unknown>(
      former(
        {},
        {
          rollout: { ...rollout, texts: said, mode: "searchr1", instructionRole: "system" },
          reward: { ...rest.reward, scope: "searchr1" }
        }
      ),
      {
        ...rest,
        rollout: { ...rollout, agent: "search-r1-exact", texts: { ...said, role: "system" } },
        engine: rest.engine,
        keys: named
      }
    )
    assert.strictEqual(role, "user")
    const scoped = complete({ ...Presets.quick, reward: { ...rest.reward, scope: "verl" } })
    assert.strictEqual(Result.isFailure(scoped) ? scoped.failure.field : null, "reward.scope")
  })

  it.each([
    ["population", { average: "window", span: "draws" }, { average: "draws" }],
    ["population", { average: "observed", span: "steps" }, { average: "steps" }],
    ["population", { average: "window", span: "steps" }, "population.span"],
    ["population", { ties: "order", best: "weight" }, { ties: "order" }],
    ["population", { ties: "order", best: "evidence" }, "population.best"],
    ["verification", { stop: null, race: false }, { stop: null }],
    ["verification", { stop: 0.05, race: true }, { stop: 0.05 }],
    ["verification", { stop: 0.05, race: false }, "verification.race"],
    ["schedule", { evolveUntil: 150, evolveUntilInclusive: false }, { evolveUntil: 149 }],
    ["schedule", { evolveUntil: 150, evolveUntilInclusive: true }, { evolveUntil: 150 }]
  ] as const)("says with one setting of %s what took two: %j", (section, former, expected) => {
    const result = complete({ ...Presets.quick, [section]: { ...Presets.quick[section], ...former } })
    if (Predicate.isString(expected))
      return assert.strictEqual(Result.isFailure(result) ? result.failure.field : null, expected)
    assert.deepStrictEqual<unknown>(Result.getOrThrow(result), {
      ...Presets.quick,
      [section]: { ...Presets.quick[section], ...expected }
    })
  })

  it("keeps what it said in settings that are now elsewhere", () => {
    const files = { reflection: "a.txt", history: "b.txt", paraphrase: null }
    const { texts, ...rollout } = Presets.quick.rollout
    const { mix, ...data } = Presets.quick.data
    assert.isNull(mix)
    const { prompt, ...optimizer } = Presets.quick.optimizer
    assert.isNull(prompt)
    const price = (model: string) => ({ model, input: 1, output: 2 })
    const { prices, ...budget } = Presets.quick.budget
    const stored = {
      ...Presets.quick,
      data: { ...data, weights: { rivers: 3, music: 1 } },
      rollout: {
        ...rollout,
        promptTemplate: `Please. ${texts.prompt}`,
        passageTemplate: texts.passage,
        passageSeparator: "; ",
        invalidAction: texts.invalidAction
      },
      optimizer: { ...optimizer, prompts: files, prices: [price("a")] },
      judge: { ...Presets.quick.judge, prices: [price("b")] },
      budget
    }
    assert.deepStrictEqual<unknown>(completed(stored), {
      ...Presets.quick,
      data: { ...data, mix: { rivers: 3, music: 1 } },
      rollout: { ...rollout, texts: { ...texts, prompt: `Please. ${texts.prompt}`, separator: "; " } },
      optimizer: { ...optimizer, prompt: "a.txt" },
      budget: { ...budget, prices: [...prices, price("a"), price("b")] }
    })
  })

  it.each([null, 1, "text", [1], { population: 3 }])("stays what it is where it is none: %j", (other) => {
    if (Predicate.hasProperty(other, "population")) assert.deepInclude(completed(other), { population: 3 })
    else assert.deepStrictEqual(completed(other), other)
  })
})

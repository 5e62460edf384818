import { assert, describe, it } from "@effect/vitest"
import { merge, Presets } from "@inspo/config"
import { Result, Schema } from "effect"
import { configKeys } from "../../src/config/ConfigKeys.ts"
import { leafPaths, type Override, parseFile, parseSet, resolve } from "../../src/config/Resolve.ts"

const Name = Schema.String.check(Schema.isPattern(/^[a-z]{1,8}$/))
const Steps = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))
/** A setting that any positive integer suits, with its dotted name. */
const Setting = Schema.Tuple([
  Schema.Literals(["schedule.steps", "selection.window", "verification.samples", "evaluation.questions", "randomSeed"]),
  Steps
])
const leaves = leafPaths(Presets.quick)

const read = (tree: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>(
      (node, key) => (typeof node === "object" && node !== null ? Reflect.get(node, key) : undefined),
      tree
    )

const sets = (settings: ReadonlyArray<readonly [string, number]>): ReadonlyArray<Override> =>
  Result.getOrThrow(Result.all(settings.map(([path, value]) => parseSet(`${path}=${value}`))))

const fault = (overrides: ReadonlyArray<Override>): string => {
  const result = resolve(Presets.quick, overrides)
  return Result.isFailure(result) ? result.failure.message : ""
}

describe("resolve", () => {
  it.each(Object.entries(Presets.byName))("leaves the preset %s as it is when nothing is laid over it", (_, preset) => {
    assert.deepStrictEqual(Result.getOrThrow(resolve(preset, [])), preset)
  })

  it.prop(
    "gives every setting the last value that was set, and every other its old one",
    [Schema.Array(Setting)],
    ([settings]) => {
      const config = Result.getOrThrow(resolve(Presets.quick, sets(settings)))
      for (const path of leaves) {
        const last = settings.findLast(([name]) => name === path)
        assert.deepStrictEqual(read(config, path), last === undefined ? read(Presets.quick, path) : last[1])
      }
    }
  )

  it.prop("is the same for settings at once and one after the other", [Schema.Array(Setting)], ([settings]) => {
    const atOnce = resolve(Presets.quick, sets(settings))
    const inTurn = sets(settings).reduce(
      (config, override) => Result.flatMap(config, (under) => resolve(under, [override])),
      resolve(Presets.quick, [])
    )
    assert.deepStrictEqual(atOnce, inTurn)
  })

  it.prop(
    "refuses every key that a config does not have, at any depth, and names it",
    [Name, Schema.Literals(leaves)],
    ([name, leaf]) => {
      const section = leaf.split(".").slice(0, -1)
      const path = [...section, `${name}x9`].join(".")
      assert.include(fault(Result.getOrThrow(Result.all([parseSet(`${path}=1`)]))), `config: ${path} is set`)
    }
  )

  it("changes a single choice of the rules that an earlier override names", () => {
    const named = Result.getOrThrow(resolve(Presets.quick, [{ selection: "paper" }, { selection: { window: 3 } }]))
    assert.deepStrictEqual(named.selection, { ...Presets.paper.selection, window: 3 })
    const { optimizer } = Result.getOrThrow(
      resolve(Presets.quick, [{ train: { optimizer: "adamw" } }, { train: { optimizer: { beta2: 0.9 } } }])
    ).train
    assert.deepStrictEqual(optimizer, { ...Presets.paper.train.optimizer, beta2: 0.9 })
    // What names a method has its defaults, whatever was set before; what names none changes the one that is there.
    const again = Result.getOrThrow(
      resolve(Presets.quick, [
        { train: { optimizer: { beta2: 0.9 } } },
        { train: { optimizer: { name: "adamw-short", beta1: 0.8 } } },
        { train: { optimizer: { weightDecay: 0.5 } } }
      ])
    ).train.optimizer
    assert.deepStrictEqual(again, { ...Presets.quick.train.optimizer, beta1: 0.8, weightDecay: 0.5 })
  })

  it("replaces a mapping with keys of the user's own as a whole", () => {
    const files = { questions: "q.jsonl", corpus: "c.jsonl", mix: { nq: 1, hotpotqa: 1 } }
    const under = Result.getOrThrow(
      resolve(Presets.quick, [{ data: files, reward: { shaping: { name: "costs", prices: { search: 1 } } } }])
    )
    assert.deepStrictEqual(under.reward.shaping, { name: "costs", prices: { search: 1 } })
    const over = [parseSet("data.mix={trivia: 2}"), parseSet("reward.shaping.prices.browse=3")]
    const { data, reward } = Result.getOrThrow(resolve(under, Result.getOrThrow(Result.all(over))))
    assert.deepStrictEqual(data.mix, { trivia: 2 })
    assert.deepStrictEqual(reward.shaping, { name: "costs", prices: { browse: 3 } })
    const mappings = configKeys.filter(({ takes }) => takes.includes("mapping of names"))
    assert.deepStrictEqual(
      mappings.map(({ path }) => path),
      ["data.mix"]
    )
  })

  it("says what was meant", () => {
    assert.include(fault([{ schedule: { step: 3 } }]), "Did you mean schedule.steps?")
    assert.include(fault([{ groupSize: 3 }]), "Did you mean rollout.groupSize?")
    assert.include(fault([{ train: { miniBatchSize: 3 } }]), "Did you mean train.miniBatch.size?")
  })

  it.each([
    ["population.size=-1", "config: population.size is -1; expected a value between 1 and 200."],
    ["population.parents=9", "config: population.parents is 9; expected at most population.size (7)."],
    ["selection.temperature=-1", "config: selection.temperature is -1; expected"],
    ["schedule.steps=many", 'config: schedule.steps is "many"; expected'],
    ["selection.assignment=papr", 'config: selection.assignment is "papr"; expected "independent" or "stratified".'],
    ["train.optimizer=sgd", 'config: train.optimizer is {"name":"sgd"}; expected "adamw" or "adamw-short"'],
    ["train.optimizer={name: sgd, rate: 1}", 'expected "adamw" or "adamw-short"'],
    [
      "train.optimizer.rate=1",
      "expected a parameter of adamw-short: warmup, decay, beta1, beta2, weightDecay, gradientClip."
    ],
    [
      "train.optimizer={name: adamw, rate: 1}",
      "config: train.optimizer.rate is set; expected a parameter of adamw: warmup"
    ],
    ["train=3", "config: train is 3; expected"],
    ['control.clauses=["Be brief."]', 'config: control.clauses.0 is "Be brief."; expected object'],
    ["data.questions=/some/file.jsonl", "config: data.corpus is null; expected a path"]
  ])("refuses %s with field, value and expectation", (set, message) => {
    const text = fault([Result.getOrThrow(parseSet(set))])
    assert.include(text, message)
    assert.notInclude(text, "\n")
  })
})

describe("parseSet", () => {
  it.prop(
    "reads back every JSON scalar",
    [Name, Schema.Union([Schema.Finite, Schema.Boolean, Schema.Null])],
    ([name, value]) => {
      assert.deepStrictEqual(Result.getOrThrow(parseSet(`${name}=${JSON.stringify(value)}`)), {
        [name]: Object.is(value, -0) ? 0 : value
      })
    }
  )

  it("keeps what follows the first equals sign", () => {
    assert.deepStrictEqual(Result.getOrThrow(parseSet("seedInstruction=a = b")), { seedInstruction: "a = b" })
  })

  it.each(["steps", "=3", "a..b=1", ".a=1", "a=[1"])("refuses %s", (text) => {
    assert.isTrue(Result.isFailure(parseSet(text)))
  })

  it("cuts no text at what YAML takes for a comment", () => {
    for (const text of ["Follow the #1 rule", "#1", " a\n#b"])
      assert.include(Result.getOrThrow(Result.flip(parseSet(`a=${text}`))).message, `--set 'a="…"'`)
    for (const text of ["C#", '"the #1 rule"', "'#1'", "[C#, '#1']", "{a: '#'}"])
      assert.include(JSON.stringify(Result.getOrThrow(parseSet(`a=${text}`))), "#")
  })
})

describe("parseFile", () => {
  it("reads a mapping, and nothing as no override", () => {
    assert.deepStrictEqual(Result.getOrThrow(parseFile("a.yaml", "schedule:\n  steps: 5\n")), {
      schedule: { steps: 5 }
    })
    assert.deepStrictEqual(Result.getOrThrow(parseFile("a.yaml", "# nothing\n")), {})
  })

  it.each(["- a\n- b", "3", "a: [", "a: b: c"])("refuses %s and names the file", (text) => {
    const result = parseFile("mine.yaml", text)
    assert.isTrue(Result.isFailure(result) && result.failure.message.includes("mine.yaml"))
  })
})

/** Overrides of one shape: a key is a mapping in all of them, or in none, as in a config. */
const Tree = Schema.Struct({
  values: Schema.Record(Name, Schema.Int),
  sections: Schema.Record(Name, Schema.Record(Name, Schema.Int))
})

describe("merge", () => {
  it.prop(
    "is associative, has the empty mapping as its identity and is idempotent",
    [Tree, Tree, Tree],
    ([a, b, c]) => {
      assert.deepStrictEqual(merge(merge(a, b), c), merge(a, merge(b, c)))
      assert.deepStrictEqual(merge(a, {}), a)
      assert.deepStrictEqual(merge({}, a), a)
      assert.deepStrictEqual(merge(a, a), a)
    }
  )

  it("replaces a mapping by a value, and a value by a mapping, in the order of the overrides", () => {
    const [mapping, value, other] = [{ train: { a: 1 } }, { train: 3 }, { train: { b: 2 } }]
    assert.deepStrictEqual(merge(merge(mapping, value), other), other)
    assert.deepStrictEqual(merge(mapping, merge(value, other)), { train: { a: 1, b: 2 } })
  })

  it("keeps keys that every object inherits", () => {
    assert.deepStrictEqual(merge({ toString: 1 }, { a: 2 }), { toString: 1, a: 2 })
  })
})

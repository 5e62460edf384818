import { assert, describe, it } from "@effect/vitest"
import { ModelConfig } from "@inspo/engine-local"
import { Effect, Schema } from "effect"
import { small } from "./Models.ts"

const Small = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))
const Sizes = Schema.Struct({
  vocabulary: Small,
  headWidth: Small,
  layers: Small,
  keyValueHeads: Small,
  shared: Small,
  feedForward: Small,
  context: Small
})
const configOf = ({ headWidth, shared, ...sizes }: typeof Sizes.Type): ModelConfig.ModelConfig => ({
  ...sizes,
  heads: sizes.keyValueHeads * shared,
  width: sizes.keyValueHeads * shared * headWidth
})

describe("ModelConfig", () => {
  it.prop("lays the parameters out without gaps or overlap", [Sizes], ([sizes]) => {
    const config = configOf(sizes)
    const layout = ModelConfig.parameterLayout(config)
    const end = layout.reduce((offset, parameter) => {
      assert.strictEqual(parameter.offset, offset)
      assert.strictEqual(parameter.size, parameter.shape[0] * parameter.shape[1])
      return offset + parameter.size
    }, 0)
    assert.strictEqual(ModelConfig.parameterCount(config), end)
    assert.strictEqual(new Set(layout.map(({ name }) => name)).size, layout.length)
  })

  it.prop("decodes every config whose heads divide its width", [Sizes], ([sizes]) => {
    const config = configOf(sizes)
    assert.deepStrictEqual(Schema.decodeSync(ModelConfig.ModelConfig)(config), config)
  })

  it.effect("names the sizes that do not divide", () =>
    Effect.gen(function* () {
      const decode = Schema.decodeUnknownEffect(ModelConfig.ModelConfig)
      const width = yield* Effect.flip(decode({ ...small, width: 17 }))
      assert.include(width.message, "width 17 must be a multiple of heads 4")
      const heads = yield* Effect.flip(decode({ ...small, keyValueHeads: 3 }))
      assert.include(heads.message, "heads 4 must be a multiple of keyValueHeads 3")
    })
  )

  it("starts equal seeds with equal bits, others with others", () => {
    assert.deepStrictEqual(ModelConfig.initialParameters(small, "a"), ModelConfig.initialParameters(small, "a"))
    assert.notDeepEqual(ModelConfig.initialParameters(small, "a"), ModelConfig.initialParameters(small, "b"))
  })

  it("starts every matrix with its deviation and a mean of 0", () => {
    const config = { ...small, vocabulary: 200, width: 64, context: 200 }
    const named = ModelConfig.views(config, ModelConfig.initialParameters(config, "moments"))
    for (const { name, size, deviation } of ModelConfig.parameterLayout(config)) {
      const values = named[name] ?? new Float32Array()
      const mean = values.reduce((sum, value) => sum + value, 0) / size
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / size
      // Five standard errors of each estimate.
      assert.isBelow(Math.abs(mean), (5 * deviation) / Math.sqrt(size), name)
      assert.isBelow(Math.abs(Math.sqrt(variance) / deviation - 1), 5 / Math.sqrt(2 * size), name)
    }
  })

  it("gives views that share the memory of the flat array", () => {
    const flat = new Float32Array(ModelConfig.parameterCount(small))
    for (const view of Object.values(ModelConfig.views(small, flat))) view.fill(1)
    assert.isTrue(flat.every((value) => value === 1))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Losses from "../../src/internal/server/Losses.ts"
import * as Target from "../../src/internal/server/Target.ts"

const between = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))

const input = (loss_fn: "ppo" | "dro" | "importance_sampling" | "cross_entropy", config: Record<string, number>) => ({
  data: [],
  loss_fn,
  loss_fn_config: config
})

const h = 1e-6

describe("Losses", () => {
  it.effect.prop(
    "give a datum whose surrogate has their gradient, also where ratios are clipped unequally",
    [
      Schema.Literals(["ppo", "dro", "importance_sampling", "cross_entropy"]),
      between(-3, -0.1),
      between(-3, -0.1),
      between(-2, 2),
      between(0, 1),
      between(0, 2),
      Schema.Boolean
    ],
    ([name, logprob, old, advantage, low, above, clipHigh]) =>
      Effect.gen(function* () {
        const high = low + above
        const ratio = Math.exp(logprob - old)
        // At a bound the loss has no derivative.
        if (Math.min(Math.abs(ratio - low), Math.abs(ratio - high)) < 1e-3) return
        const config =
          name === "ppo" ? { clip_low_threshold: low, clip_high_threshold: high } : name === "dro" ? { beta: low } : {}
        const { clip, token } = yield* Losses.loss(input(name, config), { clipHigh })
        if (!clipHigh) assert.isUndefined(clip?.clipHigh)
        const { clipRatio, clipHigh: upper = clipRatio } = clip ?? { clipRatio: Infinity }
        const datum = token(logprob, old, advantage)
        const slope = (token(logprob + h, old, advantage).loss - token(logprob - h, old, advantage).loss) / (2 * h)
        // The engine's surrogate: -min(r A, clip(r) A) with r against the datum's own log-probability.
        const own = Math.exp(logprob - datum.logprob)
        const bounded = Math.min(Math.max(own, 1 - clipRatio), 1 + upper)
        const free = own * datum.advantage <= bounded * datum.advantage
        assert.closeTo(free ? -own * datum.advantage : 0, slope, 1e-4)
      })
  )

  it.effect("refuse settings that they do not know", () =>
    Effect.gen(function* () {
      for (const [name, config, detail] of [
        [
          "ppo",
          { beta: 1 },
          /loss_fn_config\.beta is 1, expected only clip_low_threshold, clip_high_threshold with ppo/u
        ],
        ["cross_entropy", { beta: 1 }, /expected no settings with cross_entropy/u],
        ["ppo", { clip_low_threshold: 2, clip_high_threshold: 1 }, /clips ratios to 2 and 1/u],
        ["dro", {}, /beta is missing/u]
      ] as const)
        assert.match((yield* Effect.flip(Losses.loss(input(name, config), {}))).detail, detail)
    })
  )

  it.effect("refuse a datum that they would not honour as a whole", () =>
    Effect.gen(function* () {
      const ints = (data: ReadonlyArray<number>) => ({ data, dtype: "int64" as const })
      const floats = (data: ReadonlyArray<number>) => ({ data, dtype: "float32" as const })
      const inputs = { target_tokens: ints([2, 3]), weights: floats([0, 1]) }
      const read = (more: object, tokens = [1, 2]) =>
        Target.read(
          { model_input: { chunks: [{ type: "encoded_text", tokens }] }, loss_fn_inputs: { ...inputs, ...more } },
          "cross_entropy",
          "data[0]",
          10
        )
      assert.deepStrictEqual((yield* read({ target_tokens: ints([7, 3]) })).strays, [{ index: 0, token: 7 }])
      for (const [more, detail] of [
        [{ target_tokens: ints([7, 3]), weights: floats([1, 1]) }, /target_tokens\[0\] is 7, expected 2/u],
        [{ target_tokens: ints([2, 99]) }, /target_tokens\[1\] is 99, expected tokens of 0 to 9/u],
        [{ weights: floats([0, NaN]) }, /weights\[1\] is NaN, expected a finite number/u],
        [{ weights: floats([1]) }, /weights holds 1 values, expected 2/u],
        [{ mask: floats([1, 1]) }, /holds weights and mask, expected one of them/u],
        [{ clip_low_threshold: floats([1, 1]) }, /clip_low_threshold is given, expected only target_tokens/u],
        [{ weights: { ...floats([0, 1]), shape: [2, 1] } }, /weights\.shape is \[2, 1\], expected \[2\]/u],
        [{ weights: { ...floats([0, 1]), sparse_crow_indices: [0] } }, /weights is sparse/u]
      ] as const)
        assert.match((yield* Effect.flip(read(more))).detail, detail)
      assert.match((yield* Effect.flip(read({}, [1, 10]))).detail, /model_input\[1\] is 10, expected tokens of 0 to 9/u)
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Effect, Schema } from "effect"

const Text = Schema.Array(Schema.Literals(["</search>", "</answer>", "<think>", " Ostrel", "é", "😀", "<"]))
const MaxTokens = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))

const request = {
  prompt: [60, 61],
  n: 2,
  stop: ["</search>", "</answer>"],
  temperature: 1,
  topP: 1,
  seed: "s"
}

describe("ScriptedEngine", () => {
  it.effect.prop(
    "cuts at the first stop text, which it includes, and at the token limit",
    [Text, MaxTokens],
    ([fragments, maxTokens]) =>
      Effect.gen(function* () {
        const script = fragments.join("")
        const { sample, tokenizer } = ScriptedEngine.make(() => script)
        const [result] = yield* sample([{ ...request, maxTokens }])
        const [sequence, second] = result?.sequences ?? []
        assert(sequence !== undefined)
        assert.deepStrictEqual(second, sequence)
        assert.isAtMost(sequence.tokens.length, maxTokens)
        assert.deepStrictEqual(sequence.logprobs, sequence.tokens.map(ScriptedEngine.logprob))
        const at = script.search(/<\/(?:search|answer)>/)
        const whole = at < 0 ? `${script}<|end|>` : script.slice(0, script.indexOf(">", at) + 1)
        assert.deepStrictEqual(sequence.tokens, tokenizer.encode(whole).slice(0, maxTokens))
        assert.strictEqual(sequence.stopReason, tokenizer.decode(sequence.tokens) === whole ? "stop" : "length")
      })
  )

  it.effect("refuses a request that could outgrow the context", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        ScriptedEngine.make(() => "", { contextLength: 10 }).sample([{ ...request, maxTokens: 9 }])
      )
      assert.strictEqual(error.operation, "sample")
    })
  )

  it.effect("reports the loss of a policy that has not moved", () =>
    Effect.gen(function* () {
      const metrics = yield* ScriptedEngine.make(() => "").train({
        key: "k",
        datums: [{ prompt: [1], response: [2, 3], logprobs: [-1, 0], advantages: [0.5, 0], weights: [0.25, 0] }],
        loss: { clipRatio: 0.2, klCoefficient: 0 },
        optimizer: { learningRate: 1, beta1: 0.9, beta2: 0.999, weightDecay: 0, gradientClip: 1 }
      })
      assert.deepStrictEqual(metrics, { loss: -0.125, kl: 0, clipFraction: 0, gradientNorm: 0, tokens: 1 })
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import type { TrainRequest } from "@inspo/engine"
import { Corrections, Losses, Weighing } from "@inspo/policy-gradient"
import { Schema } from "effect"

const Logprob = Schema.Finite.check(Schema.isBetween({ minimum: -3, maximum: -0.1 }))
const Token = Schema.Struct({
  old: Logprob,
  now: Logprob,
  advantage: Schema.Literals([-1, 0, 0.5]),
  action: Schema.Boolean
})
const Tokens = Schema.NonEmptyArray(Token).check(Schema.isMaxLength(8))

const request = (tokens: typeof Tokens.Type): TrainRequest => ({
  key: "1",
  datums: [
    {
      prompt: [1],
      response: tokens.map(() => 2),
      logprobs: tokens.map(({ old }) => old),
      advantages: tokens.map(({ action, advantage }) => (action ? advantage : 0)),
      weights: tokens.map(({ action }) => (action ? 0.1 : 0))
    }
  ],
  loss: { clipRatio: 0.1, clipHigh: 0.3, klCoefficient: 0 },
  optimizer: { learningRate: 1, beta1: 0, beta2: 0, weightDecay: 0, gradientClip: 0 }
})

const named = (name: string): Losses.Interface =>
  Losses.make(Schema.decodeUnknownSync(Losses.Loss)(name === "ratio-variance" ? { name, lambda: 0.5 } : name))

describe("a weighed request", () => {
  it.prop("has at ratio 1 the weights of each loss, on action tokens alone", [Tokens], ([tokens]) => {
    for (const { name } of Losses.losses) {
      const loss = named(name)
      const { clipFraction, request: weighed } = Weighing.weighed(request(tokens), [tokens.map(({ now }) => now)], loss)
      const actions = tokens.filter(({ action }) => action)
      const turns = actions.map((token) => {
        const before = tokens.slice(0, tokens.indexOf(token) + 1)
        return before.filter(({ action }, at) => action && before[at - 1]?.action !== true).length - 1
      })
      const expected = loss.weights({
        logprobs: actions.map(({ now }) => now),
        old: actions.map(({ old }) => old),
        advantages: actions.map(({ advantage }) => advantage),
        turns
      })
      const [datum] = weighed.datums
      assert.deepStrictEqual(
        datum?.advantages.filter((_, at) => tokens[at]?.action === true),
        expected
      )
      tokens.forEach(({ action, now, old }, at) => {
        assert.strictEqual(datum?.logprobs[at], action ? now : old)
        if (!action) assert.strictEqual(datum?.advantages[at], 0)
      })
      assert.deepStrictEqual(weighed.loss, { clipRatio: Weighing.clipRatio, klCoefficient: 0 })
      const lost = expected.filter((weight, at) => weight === 0 && actions[at]?.advantage !== 0).length
      assert.strictEqual(clipFraction, actions.length === 0 ? 0 : lost / actions.length)
    }
  })

  it("is for what the engine lacks: other losses, a third bound, and a second one if it has none", () => {
    const clip = { name: "clip", low: 0.2, high: 0.2, dual: 0 } as const
    const own = (loss: Losses.Loss, clipHigh?: boolean) =>
      Weighing.isOwn(Losses.make(loss), clipHigh === undefined ? {} : { clipHigh })
    assert.isTrue(own(clip))
    assert.isFalse(own({ ...clip, high: 0.3 }))
    assert.isTrue(own({ ...clip, high: 0.3 }, true))
    assert.isFalse(own({ ...clip, dual: 3 }, true))
    assert.isFalse(own({ name: "reinforce" }, true))
  })

  it("trains tokens of advantage 0 only where the loss pulls them back", () => {
    const pulling = Losses.losses.map(({ name }) => name).filter((name) => Losses.pulls(named(name)))
    assert.deepStrictEqual(pulling, ["dro", "ratio-variance"])
  })
})

describe("a corrected request", () => {
  it.prop(
    "has the trainer's log-probabilities, and the factors of each correction on action tokens alone",
    [Tokens],
    ([tokens]) => {
      const sampled = request(tokens)
      const trainer = tokens.map(({ now }) => now)
      for (const { name, of } of Corrections.corrections) {
        const kind = Schema.decodeUnknownSync(Corrections.Correction)(name)
        const actions = tokens.filter(({ action }) => action)
        const factors = of({
          trainer: actions.map(({ now }) => now),
          sampler: actions.map(({ old }) => old),
          advantage: actions.reduce((sum, { advantage }) => sum + advantage, 0) / Math.max(1, actions.length)
        })
        const expected = actions.map(({ advantage }, at) => advantage * (factors[at] ?? Number.NaN))
        const { datums, ...rest } = Weighing.corrected(sampled, [trainer], kind)
        const { datums: before, ...usual } = sampled
        assert.deepStrictEqual(rest, usual)
        assert.deepStrictEqual(datums[0]?.logprobs, trainer)
        assert.deepStrictEqual(datums[0]?.weights, before[0]?.weights)
        assert.deepStrictEqual(
          datums[0]?.advantages.filter((_, at) => tokens[at]?.action === true),
          expected
        )
        const known = before[0]?.logprobs ?? []
        assert.deepStrictEqual(Weighing.corrected(sampled, [known], kind).datums, before, name)
      }
    }
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { losses, type Sequence } from "../../src/Losses.ts"
import { cispo } from "../../src/losses/Cispo.ts"
import { clip } from "../../src/losses/Clip.ts"
import { clipTrajectory, clipTurn } from "../../src/losses/ClipRun.ts"
import { dppoTv } from "../../src/losses/DppoTv.ts"
import { fipo } from "../../src/losses/Fipo.ts"
import { gmpo } from "../../src/losses/Gmpo.ts"
import { gspo } from "../../src/losses/Gspo.ts"
import { icpo } from "../../src/losses/Icpo.ts"
import { importanceSampling } from "../../src/losses/ImportanceSampling.ts"
import { luspo } from "../../src/losses/Luspo.ts"
import { nextLambda, ratioVariance } from "../../src/losses/RatioVariance.ts"
import { reinforce } from "../../src/losses/Reinforce.ts"
import { sapo } from "../../src/losses/Sapo.ts"
import { topr } from "../../src/losses/Topr.ts"
import { truncated } from "../../src/losses/Truncated.ts"
import { vespo } from "../../src/losses/Vespo.ts"
import { close } from "../support/Batches.ts"

const Within = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))
const Token = Schema.Struct({ old: Within(-3, -0.1), log: Within(-1.5, 1.5), turn: Schema.Literals([0, 1, 2]) })

/** Sequences of one advantage, as those of a rollout without credit. */
const sequence = (advantage: Schema.Schema<number> = Schema.Literals([-1.3, -0.2, 0.4, 2])) =>
  Arbitrary.map(
    Arbitrary.schema(Schema.Struct({ tokens: Schema.NonEmptyArray(Token).check(Schema.isMaxLength(6)), advantage })),
    ({ advantage, tokens }): Sequence => ({
      // At most certain.
      logprobs: tokens.map(({ log, old }) => Math.min(old + log, -0.01)),
      old: tokens.map(({ old }) => old),
      advantages: tokens.map(() => advantage),
      turns: tokens.map(({ turn }) => turn).toSorted((a, b) => a - b)
    })
  )

const onPolicy = (one: Sequence): Sequence => ({ ...one, logprobs: one.old })
const first = (values: ReadonlyArray<number>): number => values[0] ?? Number.NaN
const given = { lambda: 0.04 }
const advantageOf = ({ advantages }: Sequence) => first(advantages)
const token = (ratio: number, advantage: number): Sequence => ({
  logprobs: [Math.log(0.3 * ratio)],
  old: [Math.log(0.3)],
  advantages: [advantage]
})

describe("every loss", () => {
  it.prop("is 0 without an advantage, save for penalties", [sequence(Schema.Literal(0))], ([one]) => {
    for (const { name, weights } of losses)
      if (name !== "dro" && name !== "ratio-variance") close(weights(one, given), one.advantages)
  })
})

describe("losses", () => {
  it.prop("clip: a higher bound never lowers a weight, and equal bounds are one ε", [sequence()], ([one]) => {
    const wide = clip.weights(one, { high: 0.6 })
    clip.weights(one).forEach((weight, index) => assert.isAtLeast(wide[index] ?? 0, weight))
    const dual = clip.weights(one, { dual: 3 })
    one.advantages.forEach((advantage, index) => {
      if (advantage < 0) assert.isAtMost(Math.abs(dual[index] ?? Infinity), 3 * Math.abs(advantage) + 1e-12)
    })
  })

  it.prop("clip: without bounds it is importance sampling", [sequence()], ([one]) => {
    close(clip.weights(one, { low: Infinity, high: Infinity }), importanceSampling.weights(one))
  })

  it.prop("reinforce: weights are the advantages at any ratio", [sequence()], ([one]) => {
    assert.deepStrictEqual(reinforce.weights(one), one.advantages)
  })

  it.prop("cispo, truncated, topr: no token is lost, and weights are bounded", [sequence()], ([one]) => {
    const size = Math.abs(advantageOf(one))
    for (const weight of cispo.weights(one)) assert.isTrue(weight !== 0 && Math.abs(weight) <= 1.2 * size + 1e-12)
    for (const weight of [...truncated.weights(one), ...topr.weights(one)])
      assert.isTrue(weight !== 0 && Math.abs(weight) <= size + 1e-12)
  })

  it("cispo: the ratio is bounded from below only where a bound is given", () => {
    close(cispo.weights(token(0.1, 1)), [0.1])
    close(cispo.weights(token(0.1, 1), { low: 0.2 }), [0.8])
  })

  it.prop("gspo: all tokens are alike, in any order, and one token is clip", [sequence()], ([one]) => {
    const bounds = { low: 0.2, high: 0.2 }
    const found = gspo.weights(one, bounds)
    close(
      found,
      found.map(() => first(found))
    )
    const reversed = { ...one, logprobs: one.logprobs.toReversed(), old: one.old.toReversed() }
    close(gspo.weights(reversed, bounds), found)
    const single = {
      logprobs: one.logprobs.slice(0, 1),
      old: one.old.slice(0, 1),
      advantages: one.advantages.slice(0, 1)
    }
    close(gspo.weights(single, bounds), clip.weights(single))
    close(
      luspo.weights(one, bounds),
      found.map((weight) => weight * found.length)
    )
  })

  it.prop(
    "gmpo: its mean is between the least and the largest ratio, and bounded on the growing side",
    [sequence()],
    ([one]) => {
      const advantage = advantageOf(one)
      const ratios = one.logprobs.map((logprob, index) => Math.exp(logprob - (one.old[index] ?? 0)))
      for (const weight of gmpo.weights(one)) {
        if (weight === 0) continue
        const mean = weight / advantage
        if (advantage > 0) assert.isAtMost(mean, Math.min(Math.exp(0.4), Math.max(...ratios)) + 1e-9)
        else assert.isAtLeast(mean, Math.max(Math.exp(-0.4), Math.min(...ratios)) - 1e-9)
      }
    }
  )

  it("sapo: falls to 0 with the ratio, without a jump", () => {
    const weights = [1, 2, 4, 8, 16].map((ratio) => first(sapo.weights(token(ratio, 1))))
    assert.isTrue(weights.every((weight) => weight > 0))
    assert.isBelow(weights.at(-1) ?? 1, 1e-3)
    assert.isBelow(first(sapo.weights(token(2, -1))), 0)
  })

  it("dppo-tv: rare tokens keep their gradient at any ratio", () => {
    const rare = { logprobs: [Math.log(0.05)], old: [Math.log(0.001)], advantages: [1] }
    close(dppoTv.weights(rare), [20])
    close(dppoTv.weights(token(1.5, 1)), [1.5])
    close(dppoTv.weights(token(1.7, 1)), [0])
    close(dppoTv.weights(token(0.3, -1)), [0])
  })

  it("vespo: is largest at k / λ, and 0 far away", () => {
    const at = (ratio: number, advantage: number) => first(vespo.weights(token(ratio, advantage)))
    for (const ratio of [0.4, 0.6, 0.7, 1, 2]) assert.isAtMost(at(ratio, 1), at(2 / 3, 1))
    for (const ratio of [0.5, 1, 1.4, 1.6, 3]) assert.isAtMost(-at(ratio, -1), -at(1.5, -1))
    assert.isBelow(at(0.001, 1), 1e-4)
    assert.isBelow(at(30, 1), 1e-4)
  })

  it.prop(
    "fipo: is clip times a factor of 1 to 1.2, and clip where nothing follows that changed",
    [sequence()],
    ([one]) => {
      const plain = clip.weights(one)
      fipo.weights(one).forEach((weight, index) => {
        const factor = weight / (plain[index] ?? 0)
        if ((plain[index] ?? 0) !== 0) assert.isTrue(factor >= 0.8 - 1e-9 && factor <= 1.2 + 1e-9)
      })
      close(fipo.weights(onPolicy(one)), one.advantages)
    }
  )

  it("fipo: a failure far from its sampling is not weighed up", () => {
    close(fipo.weights(token(4.5, -1)), [-4.5])
    close(fipo.weights(token(3.5, -1)), [-3.5 * 1.2])
    const two = { logprobs: [-1, -1], old: [-1, -1.1], advantages: [1, 1] }
    close(fipo.weights(two), [Math.exp(0.1 * 2 ** (-1 / 32)), Math.exp(0.1) ** 2])
  })

  it("ratio-variance: the gradient changes its sign at 1 + A / 2λ", () => {
    const at = (ratio: number) => first(ratioVariance.weights(token(ratio, 1), { lambda: 1 }))
    assert.isAbove(at(1.49), 0)
    assert.closeTo(at(1.5), 0, 1e-12)
    assert.isBelow(at(1.51), 0)
    assert.throws(() => ratioVariance.weights(token(1, 1)), /no default/u)
    const dual = { delta: 0.1, rate: 2 }
    assert.strictEqual(nextLambda(0.3, 0.1, dual), 0.3)
    assert.isAbove(nextLambda(0.3, 0.2, dual), 0.3)
    assert.strictEqual(nextLambda(0.3, -9, dual), 0)
  })

  it.prop("icpo: is at most a quarter of the advantage, at π = γ", [sequence()], ([one]) => {
    for (const weight of icpo.weights(one)) assert.isAtMost(Math.abs(weight), Math.abs(advantageOf(one)) / 4 + 1e-12)
    close(icpo.weights({ logprobs: [Math.log(0.1)], old: [0], advantages: [1] }), [0.25])
  })

  it.prop("clip-turn: turns of one token are clip, and one turn is the trajectory", [sequence()], ([one]) => {
    close(clipTurn.weights({ ...one, turns: one.logprobs.map((_, index) => index) }), clip.weights(one))
    close(clipTurn.weights({ ...one, turns: one.logprobs.map(() => 0) }), clipTrajectory.weights(one))
    const found = clipTurn.weights(one)
    one.turns?.forEach((turn, index) => {
      one.turns?.forEach((other, at) => {
        if (turn === other) assert.closeTo(found[index] ?? 0, found[at] ?? 1, 1e-9)
      })
    })
  })
})

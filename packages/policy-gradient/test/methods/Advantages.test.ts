import { assert, describe, it } from "@effect/vitest"
import { estimators, furtherEstimators, ofBatch } from "../../src/Advantage.ts"
import { adora } from "../../src/advantages/Adora.ts"
import { batchScaled } from "../../src/advantages/BatchScaled.ts"
import { bestOfGroup } from "../../src/advantages/BestOfGroup.ts"
import { budgeted } from "../../src/advantages/Budgeted.ts"
import { centred } from "../../src/advantages/Centred.ts"
import { certainty, confidence } from "../../src/advantages/Confidence.ts"
import { consistency } from "../../src/advantages/Consistency.ts"
import { earlyTool } from "../../src/advantages/EarlyTool.ts"
import { gdpo } from "../../src/advantages/Gdpo.ts"
import { gfpo } from "../../src/advantages/Gfpo.ts"
import { gpg } from "../../src/advantages/Gpg.ts"
import { leaveOneOut } from "../../src/advantages/LeaveOneOut.ts"
import { maxLikelihood } from "../../src/advantages/MaxLikelihood.ts"
import { opo } from "../../src/advantages/Opo.ts"
import { passAtK } from "../../src/advantages/PassAtK.ts"
import { reinforcePlusPlus } from "../../src/advantages/ReinforcePlusPlus.ts"
import { reinforcePlusPlusBaseline } from "../../src/advantages/ReinforcePlusPlusBaseline.ts"
import { remax } from "../../src/advantages/Remax.ts"
import { nextQuantile, risk } from "../../src/advantages/Risk.ts"
import { standardised } from "../../src/advantages/Standardised.ts"
import { tokenAverage } from "../../src/advantages/TokenAverage.ts"
import type { Group } from "../../src/Estimator.ts"
import { batch, binaryGroup, close, group, sum, withRewards } from "../support/Batches.ts"
import { meanGradient, success, successGradient } from "../support/Enumerated.ts"

const lengths = (group: Group) => group.map(({ length }) => length)
const rewards = (group: Group) => group.map(({ reward }) => reward)
const weighted = (group: Group, values: ReadonlyArray<number> | undefined) =>
  sum(lengths(group).map((length, index) => length * (values?.[index] ?? 0)))
const differs = (group: Group) => new Set(rewards(group)).size > 1
const evenly = (group: Group): Group => group.map((member) => ({ ...member, length: 7 }))
const ofRewards = (values: ReadonlyArray<number>): Group =>
  values.map((reward) => ({ reward, length: 1, answer: null, firstCall: null, greedy: 0.4 }))
const one = ({ ofBatch }: Pick<(typeof estimators)[number], "ofBatch">, group: Group): ReadonlyArray<number> =>
  ofBatch([group]).flat()

describe("every advantage", () => {
  it("has constants, unless it is for programs alone", () => {
    for (const { defaults, ...method } of estimators) {
      assert.notInclude(Object.values(defaults), null)
      assert.notProperty(method, "needs")
    }
    const names = [...estimators, ...furtherEstimators].map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
  })

  it("is refused for rewards that are not numbers", () => {
    for (const { name } of estimators) assert.throws(() => ofBatch([ofRewards([1, Number.NaN])], name), /finite/u)
  })
})

describe("advantages", () => {
  it.prop("leave-one-out is n / (n − 1) times centred", [group], ([members]) => {
    const n = members.length
    close(
      one(leaveOneOut, members),
      one(centred, members).map((value) => (value * n) / Math.max(1, n - 1))
    )
    assert.closeTo(sum(one(leaveOneOut, members)), 0, 1e-9)
  })

  it("leave-one-out has exactly the gradient of the mean reward, for every size", () => {
    for (const size of [2, 3, 4, 5])
      close(
        meanGradient(size, (values) => one(leaveOneOut, ofRewards(values))),
        successGradient
      )
  })

  it("remax has exactly the gradient of the mean reward, whatever the greedy rollout earned", () => {
    close(
      meanGradient(3, (values) => remax.ofBatch([ofRewards(values)]).flat()),
      successGradient
    )
    close(remax.ofBatch([ofRewards([0.4, 0.4])]).flat(), [0, 0])
  })

  it.prop("batch-scaled keeps the order of a group, and scales all groups alike", [batch], ([groups]) => {
    const values = batchScaled.ofBatch(groups).flat()
    const centredValues = centred.ofBatch(groups).flat()
    const factors = values.flatMap((value, index) => (value === 0 ? [] : [value / (centredValues[index] ?? 0)]))
    for (const factor of factors) {
      assert.isAbove(factor, 0)
      assert.closeTo(factor, factors[0] ?? 0, 1e-6)
    }
  })

  it.prop("REINFORCE++ has mean 0 and deviation 1 over the tokens", [batch], ([groups]) => {
    for (const { ofBatch } of [reinforcePlusPlus, reinforcePlusPlusBaseline]) {
      const values = ofBatch(groups, { epsilon: 1e-12 }).flat()
      if (new Set(values).size < 2) continue
      const members = groups.flat()
      const tokens = sum(lengths(members))
      assert.closeTo(weighted(members, values), 0, 1e-6)
      const squares = values.map((value) => value * value)
      assert.closeTo(weighted(members, squares) / (tokens - 1), 1, 1e-3)
    }
  })

  it.prop("REINFORCE++ with a baseline has mean 0 in each group of equal lengths", [batch], ([groups]) => {
    for (const values of reinforcePlusPlusBaseline.ofBatch(groups.map(evenly))) assert.closeTo(sum(values), 0, 1e-6)
  })

  it.prop("opo sums to 0 over tokens, and is centred for equal lengths", [group], ([members]) => {
    assert.closeTo(weighted(members, one(opo, members)), 0, 1e-9)
    close(one(opo, evenly(members)), one(centred, members))
  })

  it.prop("gpg keeps the size of the mean gradient of the groups that differ", [batch], ([groups]) => {
    const size = (values: ReadonlyArray<number>) => sum(values.map(Math.abs)) / Math.max(1, values.length)
    const acting = centred.ofBatch(groups.filter(differs)).flat()
    assert.closeTo(size(gpg.ofBatch(groups).flat()), size(acting), 1e-9)
    if (acting.length === groups.flat().length) close(gpg.ofBatch(groups).flat(), centred.ofBatch(groups).flat())
  })

  it.prop("pass-at-k sums to 0, and is centred for k = 1", [binaryGroup], ([members]) => {
    for (const k of [1, 2, 3, 4, 5])
      assert.closeTo(sum(passAtK.ofBatch([members], { k, divide: false }).flat()), 0, 1e-9)
    close(passAtK.ofBatch([members], { k: 1, divide: false }).flat(), one(centred, members))
    const population = Math.sqrt(Math.max(1, members.length - 1) / members.length)
    close(
      passAtK.ofBatch([members], { k: 1 }).flat(),
      one(standardised, members).map((value) => value / population),
      1e-4
    )
  })

  it("pass-at-k has (1 / k − 1 / n) times the gradient of pass@k", () => {
    for (const [n, k] of [
      [3, 1],
      [4, 2],
      [5, 3],
      [5, 5]
    ] as const) {
      const slope = (1 / k - 1 / n) * k * (1 - success) ** (k - 1)
      close(
        meanGradient(n, (values) => passAtK.ofBatch([ofRewards(values)], { k, divide: false }).flat()),
        successGradient.map((value) => slope * value)
      )
    }
  })

  it("best-of-group has the gradient of pass@n divided by n, and nothing where two tie", () => {
    for (const n of [2, 3, 4])
      close(
        meanGradient(n, (values) => bestOfGroup.ofBatch([ofRewards(values)], { divide: false }).flat()),
        successGradient.map((value) => (1 - success) ** (n - 1) * value)
      )
    close(one(bestOfGroup, ofRewards([1, 0.5, 1])), [0, 0, 0])
  })

  it.prop("max-likelihood sums to 0", [group], ([members]) => {
    assert.closeTo(sum(one(maxLikelihood, members)), 0, 1e-9)
  })

  it("max-likelihood has the gradient of the log-likelihood of a success, truncated after n − 1 terms", () => {
    for (const n of [2, 3, 4, 5]) {
      const terms = sum(Array.from({ length: n - 1 }, (_, index) => (1 - success) ** index))
      close(
        meanGradient(n, (values) => one(maxLikelihood, ofRewards(values))),
        successGradient.map((value) => terms * value)
      )
    }
  })

  it.prop("token-average is GRPO with the population's deviation for equal lengths", [group], ([members]) => {
    const n = members.length
    const population = Math.sqrt(Math.max(1, n - 1) / n)
    close(
      one(tokenAverage, evenly(members)),
      one(standardised, members).map((value) => value / population),
      1e-3
    )
    const values = one(tokenAverage, members)
    const falls = values.every((value, index) => value === one(standardised, members)[index])
    if (!falls) {
      assert.closeTo(weighted(members, values), 0, 1e-6)
      assert.isTrue(values.every((value) => Math.abs(value) < 5))
    }
  })

  it("token-average falls back to GRPO where a token's advantage would reach 5", () => {
    const members = [1, 200].map((length, index) => ({ reward: 1 - index, length, answer: null, firstCall: null }))
    close(one(tokenAverage, members), one(standardised, members))
  })

  it.prop("consistency is GRPO where all answers count as different", [batch], ([groups]) => {
    const several = groups.filter(({ length }) => length > 1)
    close(consistency.ofBatch(several, { rho: -99 }).flat(), standardised.ofBatch(several).flat())
  })

  it.prop("consistency teaches groups of equal rewards by how they compare with the others", [batch], ([groups]) => {
    const unanimous = groups.filter(({ length }) => length > 1)
    // No answers of a group differ so much.
    const values = consistency.ofBatch(unanimous, { rho: 99 })
    const shared = values.map((group, index) => sum(group) / (unanimous[index]?.length ?? 1))
    assert.closeTo(sum(shared), 0, 1e-6)
    const equal = unanimous.map((group) => withRewards(group, () => 0.5))
    close(
      consistency.ofBatch(equal).flat(),
      equal.flat().map(() => 0)
    )
  })

  it.prop("consistency gives more to a group of equal rewards the more its answers agree", [batch], ([groups]) => {
    const flat = [...groups, groups[0] ?? []].map((group, index) =>
      group.map((member) => ({ ...member, reward: index % 2 }))
    )
    const agreeing = flat.map((group) => group.map((member) => ({ ...member, answer: "a" })))
    const size = (values: ReadonlyArray<ReadonlyArray<number>>) => values.flat().map(Math.abs)
    const most = size(consistency.ofBatch(agreeing))
    size(consistency.ofBatch(flat)).forEach((value, index) => assert.isAtMost(value, (most[index] ?? 0) + 1e-12))
  })

  it.prop("early-tool changes successes with a tool alone, and keeps their sign", [binaryGroup], ([members]) => {
    const plain = one(standardised, members)
    const shaped = one(earlyTool, members)
    members.forEach(({ firstCall, reward }, index) => {
      const [before, after] = [plain[index] ?? 0, shaped[index] ?? 0]
      if (reward === 0 || firstCall === null) assert.strictEqual(after, before)
      assert.isAtLeast(after * before, 0)
      assert.isAtMost(Math.abs(after - before), 0.7 * Math.abs(before) + 1e-12)
      members.forEach((other, at) => {
        if (reward === 1 && other.reward === 1 && firstCall !== null && other.firstCall !== null)
          if (firstCall < other.firstCall) assert.isAtLeast(after, (shaped[at] ?? 0) - 1e-12)
      })
    })
    close(earlyTool.ofBatch([members], { delta: 0 }).flat(), plain)
    close(earlyTool.ofBatch([members], { bound: 0 }).flat(), plain)
  })

  it.prop("adora is GRPO times 1 or λ, whatever the unit of lengths", [binaryGroup], ([members]) => {
    close(adora.ofBatch([members], { low: 1 }).flat(), one(standardised, members))
    const plain = one(standardised, members)
    const values = adora.ofBatch([members], { limit: 30 }).flat()
    const weights = values.flatMap((value, index) => (value === 0 ? [] : [value / (plain[index] ?? 0)]))
    for (const weight of weights) {
      assert.closeTo(weight, weights[0] ?? 0, 1e-12)
      assert.isTrue(weight === 1 || Math.abs(weight - 0.1) < 1e-12)
    }
    const scaled = members.map((member) => ({ ...member, length: 3 * member.length }))
    close(adora.ofBatch([scaled], { limit: 90 }).flat(), values)
  })

  it("adora counts a group little whose successes are shorter than its failures", () => {
    const members = [10, 20, 30].map((length, index) => ({
      reward: index === 0 ? 1 : 0,
      length,
      answer: null,
      firstCall: null
    }))
    close(
      one(adora, members),
      one(standardised, members).map((value) => value / 10)
    )
  })

  it.prop("gfpo is GRPO within the k shortest", [group], ([members]) => {
    close(gfpo.ofBatch([members], { k: members.length }).flat(), one(standardised, members))
    for (const k of [1, 2, 3]) {
      const values = gfpo.ofBatch([members], { k }).flat()
      assert.closeTo(sum(values), 0, 1e-9)
      const limit = lengths(members).toSorted((a, b) => a - b)[k - 1] ?? Infinity
      members.forEach(({ length }, index) => {
        if (length > limit) assert.strictEqual(values[index], 0)
      })
    }
    assert.throws(() => gfpo.ofBatch([members]), /no default/u)
  })

  it.prop("gdpo ignores shift and scale of each kind", [group, group], ([members, others]) => {
    const kinds = members.map(({ reward }, index) => [reward, others[index]?.reward ?? 0])
    const given = (rewards: ReadonlyArray<ReadonlyArray<number>>): Group =>
      members.map((member, index) => ({ ...member, rewards: rewards[index] ?? [] }))
    const values = gdpo.ofBatch([given(kinds)]).flat()
    close(gdpo.ofBatch([given(kinds.map(([a = 0, b = 0]) => [3 * a + 1, b - 7]))]).flat(), values, 0.05)
    const epsilon = { epsilon: 1e-6 }
    const alone = gdpo.ofBatch([given(kinds.map(([a = 0]) => [a, 0.25]))], epsilon).flat()
    close(alone, one(standardised, members))
  })

  it.prop(
    "confidence moves an advantage by α at most, and more where the policy was less certain",
    [group],
    ([members]) => {
      const certain = members.map((member) => ({
        ...member,
        confidence: { prompt: 0.5, answer: 1 / (1 + member.length) }
      }))
      const values = confidence.ofBatch([certain], { alpha: 0.3 }).flat()
      const plain = one(standardised, members)
      const changes = values.map((value, index) => value - (plain[index] ?? 0))
      if (!differs(members)) close(values, plain)
      else
        members.forEach(({ length }, i) => {
          assert.isAtMost(Math.abs(changes[i] ?? 1), 0.3)
          members.forEach((other, j) => {
            if (length > other.length) assert.isAtLeast(changes[i] ?? 0, changes[j] ?? 0)
          })
        })
      close(confidence.ofBatch([certain], { alpha: 0 }).flat(), plain)
      assert.throws(() => confidence.ofBatch([certain]), /no default/u)
    }
  )

  it("the certainty of a text is that of its least probable fifth", () => {
    assert.closeTo(certainty([-1, -2, -3, -4, -5, -6, -7, -8, -9, -10]), Math.exp(-9.5), 1e-12)
    assert.closeTo(certainty([0, 0]), 1, 1e-12)
  })

  it.prop("budgeted adds one number to all members of one budget", [group], ([members]) => {
    const values = budgeted.ofBatch([members]).flat()
    const plain = one(standardised, members)
    const extra = values.map((value, index) => value - (plain[index] ?? 0))
    members.forEach(({ budget }, i) => {
      members.forEach((other, j) => {
        if (budget === other.budget) assert.closeTo(extra[i] ?? 0, extra[j] ?? 1, 1e-9)
      })
      // With rewards of at most 1, the best that a budget allows is not reached.
      assert.isAtMost(extra[i] ?? 1, 0)
    })
  })

  it.prop(
    "risk never falls with the score of a paper, and is constant above the upper quantile",
    [batch],
    ([groups]) => {
      const quantiles = { low: 0.8, high: 1.6, bundle: groups.length }
      const size = Math.max(...groups.map(({ length }) => length))
      const scores = Array.from({ length: size }, (_, j) => sum(groups.map((group) => rewards(group)[j] ?? 0)))
      const values = risk.ofBatch(groups, quantiles)
      const ofPaper = scores.map((_, j) => values.flatMap((group) => group.slice(j, j + 1)))
      ofPaper.forEach((all) => assert.strictEqual(new Set(all).size, 1))
      scores.forEach((left, i) =>
        scores.forEach((right, j) => {
          const rise = (ofPaper[j]?.[0] ?? 0) - (ofPaper[i]?.[0] ?? 0)
          if (left >= quantiles.high && right >= quantiles.high) assert.closeTo(rise, 0, 1e-9)
          else if (left <= right) assert.isAtLeast(rise, -1e-9)
        })
      )
      assert.throws(() => risk.ofBatch(groups), /no default/u)
    }
  )

  it("risk has the golden values, bundle by bundle", () => {
    const papers = ofRewards([0, 1, 2, 3, 4, 5])
    const expected = [-1.603567, 0, 0.356348, 0.712696, 1.069044, 1.069044]
    const quantiles = { low: 1, high: 4, bundle: 1 }
    close(risk.ofBatch([papers, papers], quantiles).flat(), [...expected, ...expected], 1e-6)
    const halves = papers.map((member) => ({ ...member, reward: member.reward / 2 }))
    close(risk.ofBatch([halves, halves], { ...quantiles, bundle: 2 }).flat(), [...expected, ...expected], 1e-6)
  })

  it("a quantile rests where its share of the scores lies below, and stays within their range", () => {
    assert.strictEqual(nextQuantile(0, [-1, -1, 1, 1, 1, 1, 1, 1, 1, 1], 0.2), 0)
    let quantile = 3
    for (let round = 0; round < 200; round++) {
      quantile = nextQuantile(quantile, [0, 1, 2, 3, 4, 5], 0.2)
      assert.isTrue(quantile >= 0 && quantile <= 5)
    }
    assert.closeTo(quantile, 1, 0.11)
  })
})

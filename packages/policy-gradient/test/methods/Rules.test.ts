import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { corrections } from "../../src/Corrections.ts"
import { maskSequence, maskTokens } from "../../src/corrections/Mask.ts"
import { rejectFailures, rejectSequence } from "../../src/corrections/Reject.ts"
import { truncateSequence, truncateTokens } from "../../src/corrections/Truncate.ts"
import { type Candidate, keeps, stillWanted } from "../../src/Keeps.ts"
import { all } from "../../src/keeps/All.ts"
import { differing } from "../../src/keeps/Differing.ts"
import { difficulty, unsolved } from "../../src/keeps/Difficulty.ts"
import { finished } from "../../src/keeps/Finished.ts"
import { varied, variedInGroup } from "../../src/keeps/Varied.ts"
import { mostVaried } from "../../src/Keep.ts"
import { Moments } from "@inspo/statistics"
import { close, sum } from "../support/Batches.ts"

const Within = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))
const Logs = Schema.NonEmptyArray(Schema.Struct({ trainer: Within(-3, 0), sampler: Within(-3, 0) })).check(
  Schema.isMaxLength(6)
)
const sampled = Arbitrary.map(
  Arbitrary.schema(Schema.Struct({ logs: Logs, advantage: Schema.Literals([-1, 1]) })),
  ({ advantage, logs }) => ({
    trainer: logs.map(({ trainer }) => trainer),
    sampler: logs.map(({ sampler }) => sampler),
    advantage
  })
)

describe("corrections", () => {
  it.prop("are 1 where both programs agree, and never negative", [sampled], ([one]) => {
    const equal = { ...one, sampler: one.trainer }
    for (const { name, of } of corrections) {
      close(
        of(equal),
        equal.trainer.map(() => 1)
      )
      assert.isTrue(
        of(one).every((factor) => factor >= 0),
        name
      )
    }
  })

  it.prop("keep within their bounds, and keep more with wider ones", [sampled], ([one]) => {
    for (const factor of [...truncateTokens.of(one), ...truncateSequence.of(one)]) assert.isAtMost(factor, 2)
    const kept = (factors: ReadonlyArray<number>) => factors.map((factor) => factor > 0)
    for (const [narrow, wide] of [
      [maskTokens.of(one), maskTokens.of(one, { low: 0.1, high: 10 })],
      [maskSequence.of(one), maskSequence.of(one, { high: 10 })],
      [rejectSequence.of(one), rejectSequence.of(one, { low: 0.5, high: 2 })],
      [rejectFailures.of(one), rejectFailures.of(one, { delta: 1 })]
    ] as const)
      kept(narrow).forEach((isKept, index) => assert.isTrue(!isKept || kept(wide)[index] === true))
  })

  it("of one token without a bound are exact importance sampling", () => {
    const [sampler, trainer, values] = [
      [0.7, 0.2, 0.1],
      [0.3, 0.3, 0.4],
      [1, -2, 5]
    ]
    for (const { of } of [truncateTokens, truncateSequence]) {
      const estimate = sum(
        (sampler ?? []).map((p, action) => {
          const logs = { trainer: [Math.log(trainer?.[action] ?? 0)], sampler: [Math.log(p)], advantage: 1 }
          return p * (of(logs, { bound: Infinity })[0] ?? 0) * (values?.[action] ?? 0)
        })
      )
      assert.closeTo(estimate, sum((trainer ?? []).map((p, action) => p * (values?.[action] ?? 0))), 1e-12)
    }
  })

  it("leave out what is out of bounds", () => {
    const at = (ratio: number, advantage = 1) => ({
      trainer: [Math.log(0.1 * ratio), Math.log(0.1)],
      sampler: [Math.log(0.1), Math.log(0.1)],
      advantage
    })
    close(maskTokens.of(at(6)), [0, 1])
    close(maskTokens.of(at(0.4)), [0, 1])
    close(maskSequence.of(at(3.1)), [0, 0])
    close(maskSequence.of(at(2.9)), [2.9, 2.9])
    close(truncateTokens.of(at(6)), [2, 1])
    close(truncateSequence.of(at(6)), [2, 2])
    close(rejectSequence.of(at(1.01)), [0, 0])
    close(rejectSequence.of(at(1.001)), [1, 1])
    close(rejectFailures.of(at(0.3, -1)), [0, 0])
    close(rejectFailures.of(at(0.3)), [1, 1])
    close(rejectFailures.of(at(3, -1)), [1, 1])
  })
})

const Member = Schema.Struct({
  reward: Schema.Literals([0, 0.5, 1]),
  advantage: Within(-2, 2),
  truncated: Schema.Boolean
})
const groups = Arbitrary.array(Arbitrary.schema(Schema.NonEmptyArray(Member).check(Schema.isMaxLength(5))), {
  minLength: 1,
  maxLength: 5
})
const kept = (groups: ReadonlyArray<ReadonlyArray<Candidate>>, chosen: ReadonlyArray<ReadonlyArray<boolean>>) =>
  groups.flatMap((group, index) => group.filter((_, member) => chosen[index]?.[member] === true))
const meanReward = (group: ReadonlyArray<Candidate>) => sum(group.map(({ reward }) => reward)) / group.length

describe("choices of rollouts", () => {
  it.prop("answer for each member", [groups], ([groups]) => {
    for (const { of } of keeps)
      assert.deepStrictEqual(
        of(groups, { share: 0.5, members: 2 }).map(({ length }) => length),
        groups.map(({ length }) => length)
      )
    assert.deepStrictEqual(kept(groups, all.of(groups)), groups.flat())
    assert.throws(() => varied.of(groups), /no default/u)
  })

  it.prop("differing: whole groups, and nothing is left out where all differ", [groups], ([groups]) => {
    const differ = groups.filter((group) => new Set(group.map(({ reward }) => reward)).size > 1)
    assert.deepStrictEqual(kept(groups, differing.of(groups)), differ.flat())
    assert.deepStrictEqual(kept(differ, differing.of(differ)), differ.flat())
  })

  it.prop("difficulty, unsolved: by the mean reward, and unsolved never leaves nothing", [groups], ([groups]) => {
    assert.deepStrictEqual(
      kept(groups, difficulty.of(groups)),
      groups.filter((group) => meanReward(group) >= 0.2 && meanReward(group) <= 0.6).flat()
    )
    const open = groups.filter((group) => meanReward(group) < 0.9)
    assert.deepStrictEqual(kept(groups, unsolved.of(groups)), (open.length === 0 ? groups : open).flat())
  })

  it.prop("finished: leaves out what was cut off", [groups], ([groups]) => {
    assert.deepStrictEqual(
      kept(groups, finished.of(groups)),
      groups.flat().filter(({ truncated }) => !truncated)
    )
  })

  it.prop("varied: no choice of that size varies more, and all is the identity", [groups], ([groups]) => {
    const advantages = groups
      .flat()
      .map(({ advantage }) => advantage)
      .slice(0, 9)
    for (const count of [1, 2, 3, 5].filter((size) => size <= advantages.length)) {
      const spread = Moments.deviation(
        mostVaried(advantages, count).map((index) => advantages[index] ?? 0),
        0
      )
      for (const subset of subsets(advantages, count)) assert.isAtLeast(spread, Moments.deviation(subset, 0) - 1e-9)
    }
    assert.deepStrictEqual(kept(groups, varied.of(groups, { share: 1 })), groups.flat())
    assert.lengthOf(kept(groups, varied.of(groups, { share: 0.5 })), Math.ceil(groups.flat().length / 2))
    for (const group of groups)
      assert.lengthOf(kept([group], variedInGroup.of([group], { members: 2 })), Math.min(2, group.length))
  })

  it.prop("dynamic sampling: never beyond its limit, and until enough groups differ", [groups], ([groups]) => {
    const rewards = groups.map((group) => group.map(({ reward }) => reward))
    const differ = rewards.filter((group) => new Set(group).size > 1).length
    for (const wanted of [1, 3, 8]) {
      assert.strictEqual(stillWanted(rewards, { wanted, limit: 0 }), Math.max(0, wanted - differ))
      const more = stillWanted(rewards, { wanted, limit: 2 })
      assert.isTrue(more === 0 || rewards.length + more <= 2 * wanted)
    }
  })
})

const subsets = (values: ReadonlyArray<number>, count: number): ReadonlyArray<ReadonlyArray<number>> => {
  if (count === 0) return [[]]
  return values.flatMap((head, index) => subsets(values.slice(index + 1), count - 1).map((tail) => [head, ...tail]))
}

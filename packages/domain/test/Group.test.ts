import { assert, describe, it } from "@effect/vitest"
import { Group, Trajectory } from "@inspo/domain"
import { Groups } from "@inspo/domain/testing"
import { Arbitrary, Effect, Option, Result, Schema } from "effect"

const Summaries = Schema.NonEmptyArray(Trajectory.TrajectorySummary)

describe("Group", () => {
  it.prop("keeps every trajectory that did not fail, in order, and all its tokens", [Summaries], ([summaries]) => {
    const alive = summaries.filter(({ finishReason }) => finishReason !== "failed")
    const group = Group.survivors("source", summaries)
    assert.strictEqual(Option.isNone(group), alive.length === 0)
    if (Option.isNone(group)) return
    assert.deepStrictEqual(
      [...group.value.trajectories],
      alive.map(({ id }) => id)
    )
    assert.deepStrictEqual(
      [...group.value.rewards],
      alive.map(({ reward }) => reward)
    )
    assert.strictEqual(
      Group.tokens(group.value),
      alive.reduce((sum, one) => sum + Trajectory.tokens(one), 0)
    )
  })

  it.prop("has a mean reward between its worst and its best", [Summaries], ([summaries]) => {
    const group = Group.survivors("source", summaries)
    if (Option.isNone(group)) return
    assert.isAtLeast(Group.meanReward(group.value), Math.min(...group.value.rewards) - 1e-12)
    assert.isAtMost(Group.meanReward(group.value), Math.max(...group.value.rewards) + 1e-12)
  })
})

describe("the schema of a group", () => {
  const decode = Schema.decodeUnknownResult(Group.Group)

  it.effect.prop("accepts every generated group, and keeps it through JSON", [Groups.arbitrary], ([group]) =>
    Effect.gen(function* () {
      const codec = Schema.fromJsonString(Group.Group)
      assert.deepStrictEqual(yield* Schema.decodeEffect(codec)(yield* Schema.encodeEffect(codec)(group)), group)
    })
  )

  it.effect("generates groups without discards", () =>
    Effect.gen(function* () {
      const found = yield* Arbitrary.checkEffect(Groups.arbitrary, () => true, { runs: 300, seed: "1" })
      assert.include(found, { _tag: "Passed", discards: 0 })
    })
  )

  it.prop(
    "refuses a list that is shorter than the others, and a group without rewards",
    [Groups.arbitrary],
    ([group]) => {
      for (const list of ["trajectories", "toolCalls", "responseTokens", "rewards"] as const)
        assert.isTrue(Result.isFailure(decode({ ...group, [list]: group[list].slice(1) })), list)
      assert.isTrue(
        Result.isFailure(decode({ ...group, rewards: [], trajectories: [], toolCalls: [], responseTokens: [] }))
      )
    }
  )
})

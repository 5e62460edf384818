import { assert, describe, it } from "@effect/vitest"
import { Group, Trajectory } from "@inspo/domain"
import { Option, Schema } from "effect"

const Summaries = Schema.NonEmptyArray(Trajectory.TrajectorySummary)

describe("Group", () => {
  it.prop("keeps every trajectory that did not fail, in order, and its tokens add up", [Summaries], ([given]) => {
    // A group shares its prompt.
    const [first] = given
    const summaries = given.map((one) => ({ ...one, promptTokens: first.promptTokens }))
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
      alive.reduce((sum, one) => sum + one.promptTokens + one.responseTokens, 0)
    )
  })

  it.prop("has a mean reward between its worst and its best", [Summaries], ([summaries]) => {
    const group = Group.survivors("source", summaries)
    if (Option.isNone(group)) return
    assert.isAtLeast(Group.meanReward(group.value), Math.min(...group.value.rewards) - 1e-12)
    assert.isAtMost(Group.meanReward(group.value), Math.max(...group.value.rewards) + 1e-12)
  })
})

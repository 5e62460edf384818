import { assert, describe, it } from "@effect/vitest"
import { Group, Trajectory } from "@inspo/domain"
import { Schema } from "effect"

const Summaries = Schema.NonEmptyArray(Trajectory.TrajectorySummary)

describe("Group", () => {
  it.prop("keeps every trajectory, in order, and its tokens add up", [Summaries], ([given]) => {
    // A group shares its prompt.
    const [first, ...rest] = given
    const summaries = [first, ...rest.map((one) => ({ ...one, promptTokens: first.promptTokens }))] as const
    const group = Group.fromTrajectories("source", summaries)
    assert.deepStrictEqual(
      [...group.trajectories],
      summaries.map(({ id }) => id)
    )
    assert.deepStrictEqual(
      [...group.rewards],
      summaries.map(({ reward }) => reward)
    )
    assert.strictEqual(
      Group.tokens(group),
      summaries.reduce((sum, one) => sum + one.promptTokens + one.responseTokens, 0)
    )
  })

  it.prop("has a mean reward between its worst and its best", [Summaries], ([summaries]) => {
    const group = Group.fromTrajectories("source", summaries)
    assert.isAtLeast(Group.meanReward(group), Math.min(...group.rewards) - 1e-12)
    assert.isAtMost(Group.meanReward(group), Math.max(...group.rewards) + 1e-12)
  })
})

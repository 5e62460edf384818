import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { drawGroup, drawn, failed, remember, rememberGroups, scoreOf } from "../src/Memory.ts"

const Stored = Schema.Array(Schema.Struct({ reward: Schema.Literals([0, 0.05, 1]), id: Schema.Int })).check(
  Schema.isMaxLength(6)
)
const Draw = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 0.99 }))

describe("memory of rollouts", () => {
  it.prop(
    "of successes: of stored ones, for groups that failed, the oldest out first",
    [Stored, Stored, Draw],
    ([group, before, draw]) => {
      const stored = remember([], before)
      const chosen = drawn(stored, draw)
      if (stored.length === 0) assert.isUndefined(chosen)
      else assert.include(stored, chosen)
      assert.strictEqual(
        failed(group.map(({ reward }) => reward)),
        group.length > 0 && group.every(({ reward }) => reward < 1)
      )
      const after = remember(stored, group, { size: 3, threshold: 0.1 })
      assert.isAtMost(after.length, 3)
      assert.isTrue(after.every(({ reward }) => reward > 0.1))
      const successes = [...stored, ...group.filter(({ reward }) => reward > 0.1)]
      assert.deepStrictEqual(after, successes.slice(-3))
    }
  )

  it("of groups: bounded, only those that differ, drawn by their scores", () => {
    assert.strictEqual(scoreOf([1, 1], [0, 0]), 0)
    const groups = [1, 0, 3, 2].map((score, group) => ({ group, score }))
    const stored = rememberGroups([], groups, { size: 2 })
    assert.deepStrictEqual(stored, groups.slice(2))
    assert.deepStrictEqual(
      rememberGroups(stored, [{ group: 9, score: 2.5 }], { size: 2 }).map(({ group }) => group),
      [2, 9]
    )
    const groupsDrawn = Array.from({ length: 1000 }, (_, index) => drawGroup(stored, index / 1000))
    assert.strictEqual(groupsDrawn.filter((group) => group === 2).length, 600)
    assert.isNull(drawGroup([], 0.5))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Group, type Instruction } from "@inspo/domain"
import { Schema } from "effect"
import { againstParent } from "../../src/projection/Lineage.ts"
import * as RunRecord from "../../src/RunRecord.ts"
import { syntheticLog } from "../../../../packages/analysis/test/support/SyntheticLog.ts"
import { config as other } from "../support/Log.ts"

/** A run whose questions several instructions are given at once. */
const config = {
  ...other,
  rollout: { ...other.rollout, groupSize: 6, instructionsPerQuestion: 3 },
  verification: { ...other.verification, samples: 0 }
}
const events = syntheticLog(config, 30)

const End = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: events.length }))

describe("the difference of an instruction to its parent", () => {
  it.prop("is the mean over the questions that both had in one step, and turns with the roles", [End], ([end]) => {
    const { batches, state } = RunRecord.observe(RunRecord.empty(config), events.slice(0, end))
    const found = againstParent({ batches, state })
    for (const { id, parent } of state.instructions) {
      if (parent === null) continue
      const differences = batches.flatMap((batch) => {
        if (batch.purpose !== "train") return []
        const of = (instruction: string) => batch.groups.filter(({ instructionId }) => instructionId === instruction)
        return of(id).flatMap((own) =>
          of(parent)
            .filter(({ questionId }) => questionId === own.questionId)
            .map((other) => Group.meanReward(own) - Group.meanReward(other))
        )
      })
      const difference = found.get(id)
      assert.strictEqual(difference?.n ?? 0, differences.length < 2 ? 0 : differences.length)
      if (difference === undefined) continue
      const mean = differences.reduce((sum, one) => sum + one, 0) / differences.length
      assert.approximately(difference.mean, mean, 1e-12)
      const turned = againstParent({ batches, state: { ...state, instructions: exchanged(state.instructions, id) } })
      const opposite = turned.get(parent)
      assert.approximately(opposite?.mean ?? Number.NaN, -mean, 1e-12)
      assert.approximately(opposite?.ci95[0] ?? Number.NaN, -difference.ci95[1], 1e-12)
    }
  })

  it("exists in the log that the property draws from", () => {
    assert.isAbove(againstParent(RunRecord.observe(RunRecord.empty(config), events)).size, 1)
  })
})

/** The instruction `id` and its parent alone, with their roles exchanged. */
const exchanged = <One extends Pick<Instruction.Instruction, "id" | "parent">>(
  instructions: ReadonlyArray<One>,
  id: string
): ReadonlyArray<One> => {
  const child = instructions.find((one) => one.id === id)
  return instructions
    .filter((one) => one.id === id || one.id === child?.parent)
    .map((one) => ({ ...one, parent: one.id === id ? null : (child?.id ?? null) }))
}

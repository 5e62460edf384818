/** What a new instruction was worth: its training rewards compared with those of its parent. */
import type { Instruction } from "@inspo/domain"
import { Group } from "@inspo/domain"
import { type MeanDifference, meanDifference } from "@inspo/statistics/Interval"
import type { RunRecord } from "../RunRecord.ts"

/**
 * The mean training reward of each instruction minus that of its parent, over the questions that both were given in the same
 * step. An instruction with fewer than two such questions is left out.
 */
export const againstParent = ({
  batches,
  state
}: Pick<RunRecord, "batches" | "state">): ReadonlyMap<Instruction.InstructionId, MeanDifference> => {
  const families = state.instructions.flatMap(({ id, parent }) =>
    parent === null ? [] : [{ id, parent, differences: new Array<number>() }]
  )
  for (const batch of families.length === 0 ? [] : batches) {
    if (batch.purpose !== "train") continue
    for (const shared of Map.groupBy(batch.groups, ({ questionId }) => questionId).values()) {
      const means = new Map(shared.map((group) => [group.instructionId, Group.meanReward(group)]))
      for (const { differences, id, parent } of families) {
        const [own, other] = [means.get(id), means.get(parent)]
        if (own !== undefined && other !== undefined) differences.push(own - other)
      }
    }
  }
  return new Map(
    families.flatMap(({ differences, id }) => {
      const difference = meanDifference(differences)
      return difference === null ? [] : [[id, difference] as const]
    })
  )
}

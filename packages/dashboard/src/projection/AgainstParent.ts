/** What a new instruction was worth: its training rewards compared with those of its parent. */
import { type Instruction, Group } from "@inspo/domain"
import { Interval } from "@inspo/statistics"
import { type RunRecord, trainingBatches } from "../RunRecord.ts"

/**
 * The mean training reward of each instruction minus that of its parent, over the questions that both were given in the same
 * step. An instruction with fewer than two such questions is left out.
 */
export const againstParent = (
  record: Pick<RunRecord, "batches" | "state">
): ReadonlyMap<Instruction.InstructionId, Interval.MeanDifference> => {
  const parents = new Map(
    record.state.instructions.flatMap(({ id, parent }) => (parent === null ? [] : [[id, parent] as const]))
  )
  const differences = Map.groupBy(
    trainingBatches(record).flatMap(({ groups }) =>
      [...Map.groupBy(groups, ({ questionId }) => questionId).values()].flatMap((shared) => {
        const means = new Map(shared.map((group) => [group.instructionId, Group.meanReward(group)]))
        return [...means].flatMap(([id, own]) => {
          const parent = parents.get(id)
          const other = parent === undefined ? undefined : means.get(parent)
          return other === undefined ? [] : [{ id, difference: own - other }]
        })
      })
    ),
    ({ id }) => id
  )
  return new Map(
    [...differences].flatMap(([id, own]) => {
      const difference = Interval.meanDifference(own.map(({ difference }) => difference))
      return difference === null ? [] : [[id, difference] as const]
    })
  )
}

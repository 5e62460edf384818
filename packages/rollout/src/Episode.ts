import type { Instruction, Question, Trajectory } from "@inspo/domain"
import type { Demonstration } from "./Demonstration.ts"

/**
 * One planned attempt: the policy on a question under an instruction. `seed` decides every draw of the attempt, so
 * the members of a group differ in it. The turns of a `demonstration` replace those that the policy would write.
 */
export interface Episode {
  readonly id: Trajectory.TrajectoryId
  readonly instruction: Instruction.Instruction
  readonly question: Question.Question
  readonly seed: string
  readonly demonstration?: Demonstration
}

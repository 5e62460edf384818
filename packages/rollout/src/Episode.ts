import type { Instruction, Question, Trajectory } from "@inspo/domain"

/**
 * One attempt to be made: the policy on a question under an instruction. `seed` decides every draw of the attempt, so
 * the members of a group differ in it.
 */
export interface Episode {
  readonly id: Trajectory.TrajectoryId
  readonly instruction: Instruction.Instruction
  readonly question: Question.Question
  readonly seed: string
}

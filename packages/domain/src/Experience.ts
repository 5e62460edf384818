import { Schema } from "effect"
import * as Checked from "./Checked.ts"
import { InstructionId } from "./Instruction.ts"
import { QuestionId } from "./Question.ts"
import { Reward, TrajectoryId } from "./Trajectory.ts"

/** One remembered (I, q, τ, r): the trajectory by reference, with the step whose policy produced it. */
export const Experience = Schema.Struct({
  trajectoryId: TrajectoryId,
  instructionId: InstructionId,
  questionId: QuestionId,
  dataSource: Schema.NonEmptyString,
  step: Schema.Int,
  reward: Reward
})
export interface Experience extends Schema.Schema.Type<typeof Experience> {}

/** An experience of one's own; `dataSource` is by default one for all questions. */
export interface Options {
  readonly id: string
  readonly instruction: string
  readonly question: string
  readonly dataSource?: string
  readonly step: number
  readonly reward: number
}

/** An experience by plain ids. Throws `InvalidInput` on an empty id, and on a reward outside [0, 1]. */
export const make = ({ dataSource = "questions", id, instruction, question, reward, step }: Options): Experience =>
  checked({ trajectoryId: id, instructionId: instruction, questionId: question, dataSource, step, reward })

const checked = Checked.by("Experience.make", Experience)

import { Schema } from "effect"
import { InstructionId } from "./Instruction.ts"
import { QuestionId } from "./Question.ts"
import { Reward, TrajectoryId, Turn } from "./Trajectory.ts"

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

/** A low-reward experience with its texts, as a proposer sees it. */
export const Failure = Schema.Struct({
  trajectoryId: TrajectoryId,
  question: Schema.String,
  goldenAnswers: Schema.NonEmptyArray(Schema.String),
  transcript: Schema.Array(Turn),
  answer: Schema.NullOr(Schema.String),
  finishReason: Schema.String,
  reward: Reward
})
export interface Failure extends Schema.Schema.Type<typeof Failure> {}

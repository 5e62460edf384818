import { Schema } from "effect"
import { InstructionId } from "./Instruction.ts"
import { QuestionId } from "./Question.ts"
import { Reward, TrajectoryId, type TrajectorySummary } from "./Trajectory.ts"

/**
 * The G trajectories of one (instruction, question) pair within a step: the unit of GRPO advantages and of every
 * statistic. `rewards`, `trajectories` and `toolCalls` are parallel and never empty.
 */
export const Group = Schema.Struct({
  instructionId: InstructionId,
  questionId: QuestionId,
  dataSource: Schema.NonEmptyString,
  /** Tokens of the prompt that all trajectories of the group share. */
  promptTokens: Schema.Int,
  rewards: Schema.NonEmptyArray(Reward),
  trajectories: Schema.NonEmptyArray(TrajectoryId),
  toolCalls: Schema.NonEmptyArray(Schema.Int),
  responseTokens: Schema.NonEmptyArray(Schema.Int)
})
export interface Group extends Schema.Schema.Type<typeof Group> {}

/** Mean reward of a group, in [0, 1]. */
export const meanReward = (group: Pick<Group, "rewards">): number =>
  group.rewards.reduce((sum, reward) => sum + reward, 0) / group.rewards.length

/** Gathers the trajectories of one (instruction, question) pair; all must share it. */
export const fromTrajectories = (
  dataSource: string,
  trajectories: readonly [TrajectorySummary, ...ReadonlyArray<TrajectorySummary>]
): Group => {
  const [first, ...rest] = trajectories
  const collect = <A>(f: (t: TrajectorySummary) => A): readonly [A, ...ReadonlyArray<A>] => [f(first), ...rest.map(f)]
  return {
    instructionId: first.instructionId,
    questionId: first.questionId,
    dataSource,
    promptTokens: first.promptTokens,
    rewards: collect((t) => t.reward),
    trajectories: collect((t) => t.id),
    toolCalls: collect((t) => t.toolCalls),
    responseTokens: collect((t) => t.responseTokens)
  }
}

/** Prompt and response tokens of all trajectories of a group. */
export const tokens = (group: Pick<Group, "promptTokens" | "responseTokens">): number =>
  group.responseTokens.reduce((sum, response) => sum + group.promptTokens + response, 0)

import { Array, Option, Schema } from "effect"
import { InstructionId } from "./Instruction.ts"
import { QuestionId } from "./Question.ts"
import { isFailed, Reward, tokens as tokensOf, TrajectoryId, type TrajectorySummary } from "./Trajectory.ts"

/**
 * The G trajectories of one (instruction, question) pair within a step, without those that failed: the
 * unit of GRPO advantages and of every statistic. `rewards`, `trajectories` and `toolCalls` are parallel and never empty.
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
  responseTokens: Schema.NonEmptyArray(Schema.Int),
  /** Tokens of all trajectories beside these: of asides, and what other prompts have more or less. */
  furtherTokens: Schema.optionalKey(Schema.Int)
}).check(
  Schema.makeFilter(
    ({ responseTokens, rewards, toolCalls, trajectories }) =>
      [trajectories, toolCalls, responseTokens].every(({ length }) => length === rewards.length) ||
      `as many trajectories, toolCalls and responseTokens as rewards, ${rewards.length}`
  )
)
export interface Group extends Schema.Schema.Type<typeof Group> {}

/** Mean reward of a group, in [0, 1]. */
export const meanReward = (group: Pick<Group, "rewards">): number =>
  group.rewards.reduce((sum, reward) => sum + reward, 0) / group.rewards.length

/** The group of the trajectories of one (instruction, question) pair that did not fail; none when all did. All must share the pair. */
export const survivors = (dataSource: string, trajectories: ReadonlyArray<TrajectorySummary>): Option.Option<Group> => {
  const members = trajectories.filter((trajectory) => !isFailed(trajectory))
  return Array.isReadonlyArrayNonEmpty(members) ? Option.some(gather(dataSource, members)) : Option.none()
}

/** All tokens of the trajectories of a group, as the ledger counts them. */
export const tokens = ({
  furtherTokens = 0,
  promptTokens,
  responseTokens
}: Pick<Group, "promptTokens" | "responseTokens" | "furtherTokens">): number =>
  responseTokens.reduce((sum, response) => sum + promptTokens + response, furtherTokens)

const gather = (dataSource: string, members: Array.NonEmptyReadonlyArray<TrajectorySummary>): Group => {
  const { instructionId, promptTokens, questionId } = members[0]
  const responseTokens = Array.map(members, ({ responseTokens }) => responseTokens)
  const further = members.reduce((sum, one) => sum + tokensOf(one), -tokens({ promptTokens, responseTokens }))
  return {
    instructionId,
    questionId,
    dataSource,
    promptTokens,
    rewards: Array.map(members, ({ reward }) => reward),
    trajectories: Array.map(members, ({ id }) => id),
    toolCalls: Array.map(members, ({ toolCalls }) => toolCalls),
    responseTokens,
    ...(further === 0 ? {} : { furtherTokens: further })
  }
}

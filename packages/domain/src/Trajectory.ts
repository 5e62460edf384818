import { Array, Schema } from "effect"
import { InstructionId } from "./Instruction.ts"
import { QuestionId } from "./Question.ts"
import { Spent } from "./Spent.ts"

/** A reward, normalised to [0, 1]. */
export const Reward = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
export type Reward = typeof Reward.Type

/** Identifies one trajectory within a run: `<purpose>/<step>/<group>/<sample>`. */
export const TrajectoryId = Schema.NonEmptyString.pipe(Schema.brand("TrajectoryId"))
export type TrajectoryId = typeof TrajectoryId.Type

/**
 * What the policy did in one turn. `kind` is `answer`, `invalid`, or the name of the tool that was called, such as
 * `search`; `content` is the answer, empty, or the input of the tool.
 */
export const Action = Schema.Struct({ kind: Schema.NonEmptyString, content: Schema.String })
export interface Action extends Schema.Schema.Type<typeof Action> {}

/**
 * One turn: the text the policy wrote, the action read from it, and the environment's observation, if any. The first turn of
 * a segment has the texts that the segment begins with as its `prompt`; the prompt of the first segment is left out. `asked` is
 * an answer that was asked for before the turn, outside the conversation.
 */
export const Turn = Schema.Struct({
  text: Schema.String,
  action: Action,
  observation: Schema.NullOr(Schema.String),
  prompt: Schema.optionalKey(Schema.String),
  asked: Schema.optionalKey(Schema.String)
})
export interface Turn extends Schema.Schema.Type<typeof Turn> {}

/** Why a trajectory ended: an answer, no turns left, no context left, an invalid last action, or a tool or reward without an answer. */
export const FinishReason = Schema.Literals([
  "answered",
  "turns-exhausted",
  "context-exhausted",
  "invalid-action",
  "failed"
])
export type FinishReason = typeof FinishReason.Type

/**
 * A trajectory without its tokens, as in events, buffers and reports.
 *
 * `answer` is the extracted final answer, or null when there is none. `toolCalls` counts answered calls of tools,
 * `promptTokens` the tokens of the first prompt, and `responseTokens` all tokens after it, observations and prompts of later
 * segments included. `asideTokens` counts those of prompts and answers outside the conversation, such as where an agent
 * condenses a tool's result. The reward of a failed trajectory is 0 and says nothing
 * about the policy (see {@link isFailed}).
 */
export const TrajectorySummary = Schema.Struct({
  id: TrajectoryId,
  instructionId: InstructionId,
  questionId: QuestionId,
  reward: Reward,
  answer: Schema.NullOr(Schema.String),
  toolCalls: Schema.Int,
  turns: Schema.Int,
  finishReason: FinishReason,
  promptTokens: Schema.Int,
  responseTokens: Schema.Int,
  asideTokens: Schema.optionalKey(Schema.Int)
})
export interface TrajectorySummary extends Schema.Schema.Type<typeof TrajectorySummary> {}

/**
 * The tokens of one context of the policy, from its prompt to where the agent rewrote it or the episode ended.
 *
 * `response`, `logprobs` and `mask` are parallel: every token after the prompt, its log-probability when it was
 * sampled (0 for observation tokens) and 1 for action tokens, 0 for observation tokens.
 */
export const Segment = Schema.Struct({
  prompt: Schema.Array(Schema.Int),
  response: Schema.Array(Schema.Int),
  logprobs: Schema.Array(Schema.Finite),
  mask: Schema.Array(Schema.Literals([0, 1]))
})
export interface Segment extends Schema.Schema.Type<typeof Segment> {}

/**
 * One episode of the policy on a question under an instruction, as tokens and as turns. The tokens are those of its last
 * segment; `earlier` has the segments before it, in order, if its agent rewrote the context (see {@link segments}).
 */
export const Trajectory = Schema.Struct({
  ...TrajectorySummary.fields,
  earlier: Schema.optionalKey(Schema.NonEmptyArray(Segment)),
  ...Segment.fields,
  transcript: Schema.Array(Turn),
  /** The tokens that its prompt announced as its budget, if any. */
  budget: Schema.optionalKey(Schema.Int),
  /** Why a `failed` trajectory failed. */
  failure: Schema.optionalKey(Schema.String),
  /** The cost of scoring it, if any. */
  scoring: Schema.optionalKey(Spent)
})
export interface Trajectory extends Schema.Schema.Type<typeof Trajectory> {}

/** Whether the environment failed the trajectory: it is left out of training, credit and every mean, and counted separately. */
export const isFailed = (trajectory: Pick<TrajectorySummary, "finishReason">): boolean =>
  trajectory.finishReason === "failed"

/** The segments of a trajectory, in order. Each token that the policy sampled is an action token of one of them. */
export const segments = ({
  earlier,
  logprobs,
  mask,
  prompt,
  response
}: Pick<Trajectory, "earlier" | keyof Segment>): Array.NonEmptyReadonlyArray<Segment> =>
  Array.append(earlier ?? [], { prompt, response, logprobs, mask })

/** The number of tokens that the policy wrote in some segments. */
export const actionTokens = (segments: ReadonlyArray<Pick<Segment, "mask">>): number =>
  segments.reduce((sum, { mask }) => sum + mask.filter((isAction) => isAction === 1).length, 0)

/** The tokens of a trajectory of these segments. */
export const ofSegments = (
  segments: Array.NonEmptyReadonlyArray<Segment>
): Pick<Trajectory, "earlier" | keyof Segment> => {
  const earlier = Array.initNonEmpty(segments)
  return { ...(Array.isReadonlyArrayNonEmpty(earlier) ? { earlier } : {}), ...Array.lastNonEmpty(segments) }
}

/** A trajectory without its tokens and texts. */
export const summary = (trajectory: Trajectory): TrajectorySummary => ({
  id: trajectory.id,
  instructionId: trajectory.instructionId,
  questionId: trajectory.questionId,
  reward: trajectory.reward,
  answer: trajectory.answer,
  toolCalls: trajectory.toolCalls,
  turns: trajectory.turns,
  finishReason: trajectory.finishReason,
  promptTokens: trajectory.promptTokens,
  responseTokens: trajectory.responseTokens,
  ...(trajectory.asideTokens === undefined ? {} : { asideTokens: trajectory.asideTokens })
})

/** All tokens of a trajectory, each once, as budgets and the ledger count them. */
export const tokens = ({
  asideTokens = 0,
  promptTokens,
  responseTokens
}: Pick<TrajectorySummary, "promptTokens" | "responseTokens" | "asideTokens">): number =>
  promptTokens + responseTokens + asideTokens

import type { Question } from "@inspo/domain"
import type { Scope } from "@inspo/reward/RewardConfig"
import type { Conversation } from "./Conversation.ts"
import type { Program } from "./Program.ts"
import type { RolloutConfig } from "./RolloutConfig.ts"
import type { Setting, Transcription } from "./Transcription.ts"

/**
 * A way of using the policy on a question: direct answers, a loop of thoughts and searches, and so on. Everything that
 * depends on the agent is a property of it; optional ones name their default.
 *
 * @example
 * ```ts
 * import { ActionParser, type Agent } from "@inspo/rollout"
 *
 * const { parse, stop } = ActionParser.grammar([])
 *
 * // Answers, and is asked to think again, once.
 * const twice: Agent = {
 *   tools: () => [],
 *   make: () =>
 *     function* (conversation) {
 *       yield* conversation.turn({ parse, stop })
 *       yield* conversation.show("Are you sure?")
 *       const action = yield* conversation.turn({ parse, stop })
 *       return action.kind === "answer" ? "answered" : "invalid-action"
 *     }
 * }
 * ```
 */
export interface Agent {
  /** The tools it may call, by name. */
  readonly tools: (config: Pick<RolloutConfig, "tools">) => ReadonlyArray<string>
  /** The tools that its policy may call in a turn; by default all of `tools`. */
  readonly policyTools?: ReadonlyArray<string>
  /** The only allowed value of `rollout.tools`; by default any. */
  readonly requiredTools?: ReadonlyArray<string>
  /** Whether its policy is a chat model that calls tools by the tool calls of its API; by default it calls them in tags. */
  readonly native?: boolean
  /** The program of one episode, which runs a conversation. */
  readonly make: (environment: Environment) => (conversation: Conversation) => Program
  /** How its conversations become tokens; by default `Transcription.verbatim`. */
  readonly transcription?: (setting: Setting) => Transcription
  /** The text of the passages of one search; by default that of `rollout.texts`, with at most `topK` passages. */
  readonly passagesText?: (passages: ReadonlyArray<Question.Passage>) => string
  /** Whether equal inputs to a tool in one round share one call; by default they do. */
  readonly sharesCalls?: boolean
  /** Which turns the reward sees; by default as `rollout.scoredTurns` says. */
  readonly scoredTurns?: RolloutConfig["scoredTurns"]
  /** Where a reward that is not a command looks for the answer; by default in the response. */
  readonly answerScope?: Scope
  /** The most tokens of an episode, asides included; by default the context length. */
  readonly maximumTokens?: (config: TokenLimits, contextLength: number) => number
}

/** The settings that bound the tokens of an episode. */
export type TokenLimits = Pick<
  RolloutConfig,
  "maxObservationTokens" | "maxPromptTokens" | "maxResponseTokens" | "maxTurns"
>

/** The environment of an agent; `toolTexts` are the tools' descriptions. */
export interface Environment {
  readonly config: RolloutConfig
  readonly toolTexts: string
}

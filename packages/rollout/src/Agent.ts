import type { Conversation } from "./Conversation.ts"
import type { Program } from "./Program.ts"
import type { RolloutConfig } from "./RolloutConfig.ts"
import type { Setting, Transcription } from "./Transcription.ts"

/**
 * A way of using the policy on a question: direct answers, a loop of thoughts and searches, and so on.
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
  /** The program of one episode, which holds a conversation. */
  readonly make: (environment: Environment) => (conversation: Conversation) => Program
  /** How its conversations become tokens; `Transcription.verbatim` where it does not say. */
  readonly transcription?: (setting: Setting) => Transcription
}

/** What an agent acts in; `toolTexts` are the tools' descriptions. */
export interface Environment {
  readonly config: RolloutConfig
  readonly toolTexts: string
}

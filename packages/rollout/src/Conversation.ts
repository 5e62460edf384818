import type { Trajectory } from "@inspo/domain"
import type { Message } from "@inspo/engine"
import type { Grammar } from "./ActionParser.ts"
import type { Episode } from "./Episode.ts"
import type { Program } from "./Program.ts"
import type { Reply } from "./Tool.ts"

/**
 * The conversation of a policy with its environment about one question: all that an agent sees and does. The
 * transcription turns it into tokens, masks and log-probabilities. Sizes are in tokens.
 *
 * A conversation without room for the next text ends its episode as `context-exhausted`.
 */
export interface Conversation {
  readonly episode: Episode
  /** The turns so far. */
  readonly turns: ReadonlyArray<Trajectory.Turn>
  /** The remaining context. */
  readonly room: number
  /** Whether an observation, even an empty one, leaves the policy room to write. */
  readonly canShow: boolean
  /** The policy writes its next turn, and the action is read from it. */
  readonly turn: (grammar: Grammar) => Program<Trajectory.Action>
  /** A tool replies. */
  readonly call: (tool: string, input: string) => Program<Reply>
  /** Shows the policy the result of its last turn. */
  readonly show: (text: string) => Program<void>
  /**
   * What the policy writes for a separate prompt, outside the conversation; none if the context has no room for it.
   * `name` distinguishes several within a turn.
   */
  readonly aside: (name: string, prompt: ReadonlyArray<Message>, stop: ReadonlyArray<string>) => Program<string | null>
  /** Starts with these messages instead of those of the config's template. Only before the first turn. */
  readonly open: (messages: ReadonlyArray<Message>) => void
  /** How long an excerpt may be if the conversation starts with these messages; 0 if none fits. */
  readonly spare: (messages: ReadonlyArray<Message>) => number
  /** A text as it would be shown, in at most `limit` tokens, by default those of an observation. */
  readonly excerpt: (text: string, limit?: number) => string
}

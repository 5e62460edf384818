import type { Trajectory } from "@inspo/domain"
import type { Message } from "@inspo/engine"
import type { Grammar } from "./ActionParser.ts"
import type { Episode } from "./Episode.ts"
import type { Program } from "./Program.ts"
import type { Reply } from "./Tool.ts"

/**
 * The conversation of a policy with its environment about one question: all that an agent sees and does. How it becomes
 * tokens, masks and log-probabilities is beneath. Sizes are in tokens.
 *
 * A conversation that has no room for what comes next ends its episode as `context-exhausted`.
 */
export interface Conversation {
  readonly episode: Episode
  /** The turns so far. */
  readonly turns: ReadonlyArray<Trajectory.Turn>
  /** What is left of the context. */
  readonly room: number
  /** Whether something can be shown, be it cut to nothing, so that the policy can still write. */
  readonly canShow: boolean
  /** The policy writes its next turn, and the action is read from it. */
  readonly turn: (grammar: Grammar) => Program<Trajectory.Action>
  /** A tool replies. */
  readonly call: (tool: string, input: string) => Program<Reply>
  /** Shows the policy what its last turn led to. */
  readonly show: (text: string) => Program<void>
  /**
   * What the policy writes under a prompt of its own, outside the conversation; none where the context has no room for it.
   * `name` distinguishes several of a turn.
   */
  readonly aside: (name: string, prompt: ReadonlyArray<Message>, stop: ReadonlyArray<string>) => Program<string | null>
  /** Opens with these messages instead of those of the config's template. For use before the first turn. */
  readonly open: (messages: ReadonlyArray<Message>) => void
  /** How long an excerpt may be beside these messages, if they are what is opened with; 0 where none fits. */
  readonly spare: (messages: ReadonlyArray<Message>) => number
  /** A text as it would be shown, in at most `limit` tokens, by default those of an observation. */
  readonly excerpt: (text: string, limit?: number) => string
}

import type { Method, Question, Trajectory } from "@inspo/domain"
import type { Message } from "@inspo/engine"
import type { Scope } from "@inspo/reward"
import type { Schema } from "effect"
import type { Grammar } from "./ActionParser.ts"
import type { Episode, Program } from "./Episode.ts"
import type { Reply } from "./Tool.ts"
import type { EpisodeConfig } from "./EpisodeConfig.ts"
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
 *   name: "twice",
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
export interface Agent<Name extends string = string> {
  /** What configs and errors call it. */
  readonly name: Name
  /** How it works, as the rest of a sentence that begins with its name; for the agents that a config can name. */
  readonly description?: string
  /** Who published it, and where; for the same agents. */
  readonly source?: string
  /** What it records that some methods of the update need, in the words of their `needs`; by default nothing. */
  readonly supplies?: string
  /**
   * How its policy acts: in tags of its text, which is the default; by the tool calls of a chat model's API; or in tags that are
   * defined token by token, which a chat model cannot follow.
   */
  readonly protocol?: "tags" | "tool-calls" | "tokens"
  /** The program, address or function that plays its episodes, where they are played outside of inspo; see `agents/Outside.ts`. */
  readonly outside?: { readonly program: string; readonly workers: number; readonly timeout: number }
  /** The tools it may call, by name. */
  readonly tools: (config: Pick<EpisodeConfig, "tools">) => ReadonlyArray<string>
  /** The tools that its policy may call in a turn; by default all of `tools`. */
  readonly policyTools?: ReadonlyArray<string>
  /** Actions of its policy besides, each a tag that the agent itself carries out; by default none. */
  readonly ownActions?: ReadonlyArray<string>
  /** The only allowed value of `rollout.tools`; by default any. */
  readonly requiredTools?: ReadonlyArray<string>
  /** The program of one episode, which runs a conversation. */
  readonly make: (environment: Environment) => (conversation: Conversation) => Program
  /** How its conversations become tokens; by default `Transcription.verbatim`. */
  readonly transcription?: (setting: Setting) => Transcription
  /** The text of the passages of one search; by default that of `rollout.texts`, with at most `topK` passages. */
  readonly passagesText?: (passages: ReadonlyArray<Question.Passage>) => string
  /** Whether it rewrites its context, so that its trajectories have several segments; by default it does not. */
  readonly restarts?: boolean
  /** Whether the first prompt differs between the rollouts of a group; by default it does not. */
  readonly promptsDiffer?: boolean
  /** The fewest rollouts of a group that it needs; by default any. */
  readonly groupSize?: number
  /** Whether equal inputs to a tool in one round share one call; by default they do. */
  readonly sharesCalls?: boolean
  /** Which turns the reward sees; by default as `rollout.scoredTurns` says. */
  readonly scoredTurns?: EpisodeConfig["scoredTurns"]
  /** Where a reward that is not a command looks for the answer; by default in the response. */
  readonly answerScope?: Scope
  /** The most turns of an episode under this `maxTurns`; by default one more. */
  readonly turns?: (maxTurns: number) => number
  /** The most asides of so many turns; by default none. */
  readonly asides?: (turns: number) => number
  /** The most tokens of an episode, asides included; by default the context length. */
  readonly maximumTokens?: (config: TokenLimits, contextLength: number) => number
}

/** An agent that a config can name, as a row of the methods: its parameters make it. */
export interface AgentKind<
  Name extends string = string,
  C extends Method.Constants = Method.Constants,
  P = C
> extends Pick<Method.Method<Name, C>, "certainty" | "defaults" | "description" | "name" | "source"> {
  /** Schemas of its parameters, where their defaults do not say what they take. */
  readonly parameters?: Schema.Struct.Fields
  of(this: void, parameters: P): Agent<Name>
}

/** The settings that bound the tokens of an episode. */
export type TokenLimits = Pick<
  EpisodeConfig,
  "maxObservationTokens" | "maxPromptTokens" | "maxResponseTokens" | "maxTurns"
>

/** The environment of an agent; `toolTexts` are the tools' descriptions. */
export interface Environment {
  readonly config: EpisodeConfig
  readonly toolTexts: string
}

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
  /** The tokens that the policy wrote, in order, and whether its limit ended the last turn; a chat model has neither. */
  readonly tokens: ReadonlyArray<number>
  readonly isCut: boolean
  /** The remaining context. */
  readonly room: number
  /** Whether an observation, even an empty one, leaves the policy room to write. */
  readonly canShow: boolean
  /** Records a number of tokens that the prompt says is the budget of the answer. */
  readonly announce: (budget: number) => void
  /** The policy writes its next turn, and the action is read from it. */
  readonly turn: (grammar: Grammar) => Program<Trajectory.Action>
  /** Several drafts of the next turn, of which one is to be taken; the others are no part of the conversation. */
  readonly drafts: (count: number, grammar: Grammar) => Program<ReadonlyArray<Draft>>
  /** A tool replies. */
  readonly call: (tool: string, input: string) => Program<Reply>
  /** Shows the policy the result of its last turn. */
  readonly show: (text: string) => Program<void>
  /** What the policy writes for a prompt outside the conversation, named within a turn; none if the context has no room. */
  readonly aside: (name: string, prompt: ReadonlyArray<Message>, stop: ReadonlyArray<string>) => Program<string | null>
  /**
   * What the policy writes if it is shown this text now; neither is part of the conversation. It is the answer that was asked
   * for before the next turn. None if the context has no room for it.
   */
  readonly peek: (text: string, stop: ReadonlyArray<string>) => Program<string | null>
  /**
   * Starts with these messages instead of those of the config's template. Only before the first turn. `start` are the words
   * that the policy's message begins with, as part of the prompt.
   */
  readonly open: (messages: ReadonlyArray<Message>, start?: string) => void
  /**
   * Begins a new segment: from now on the policy sees these messages instead of all before. `observation` is the part of them
   * that the last turn led to, for the transcript. `start` are the tokens that the policy's message begins with.
   */
  readonly restart: (messages: ReadonlyArray<Message>, observation?: string, start?: ReadonlyArray<number>) => void
  /** How long an excerpt may be if the conversation starts with these messages; 0 if none fits. */
  readonly spare: (messages: ReadonlyArray<Message>) => number
  /** A text as it would be shown, in at most `limit` tokens, by default those of an observation. */
  readonly excerpt: (text: string, limit?: number) => string
}

/** A turn that the policy could write next; `take` makes it the next turn. */
export interface Draft {
  readonly text: string
  readonly action: Trajectory.Action
  readonly take: () => void
}

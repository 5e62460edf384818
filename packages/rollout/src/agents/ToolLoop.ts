import type { Trajectory } from "@inspo/domain"
import { Result } from "effect"
import * as ActionParser from "../ActionParser.ts"
import type { Agent, Conversation, Environment, TokenLimits } from "../Agent.ts"
import * as Observation from "../Observation.ts"
import type { Ending, Program } from "../Episode.ts"

/** The options of the loop. */
export interface Options {
  /** Calls and invalid turns before the last turn. */
  readonly maxTurns: number
  /** How the turn of this number, from 0, is written. */
  readonly grammar: (turn: number) => ActionParser.Grammar
  /** Runs before each turn. */
  readonly before?: (conversation: Conversation) => Program<unknown>
  /** Turns a tool's result into the text that is shown. */
  readonly digest?: (conversation: Conversation, action: Trajectory.Action, text: string) => Program<string>
}

/** The most tokens of prompt and response that the limits and the context allow an episode of `search-r1`. */
export const maximumTokens = (limits: TokenLimits, contextLength = Infinity): number =>
  Math.min(
    limits.maxPromptTokens +
      (limits.maxTurns + 1) * limits.maxResponseTokens +
      limits.maxTurns * limits.maxObservationTokens,
    contextLength
  )

/** The most tokens of prompt and response of an agent that answers in its only turn. */
export const maximumTokensOfAnswer = (limits: TokenLimits, contextLength: number): number =>
  maximumTokens({ ...limits, maxTurns: 0 }, contextLength)

/** The agent `search-r1`: it thinks and calls tools, turn by turn, until it answers. */
export const agent: Agent<"search-r1"> = {
  name: "search-r1",
  description: "calls tools between its thoughts, turn by turn, until it answers; tokens stay as sampled",
  source: "Search-R1, arXiv 2503.09516",
  tools: (config) => config.tools,
  maximumTokens,
  make: (environment) => {
    const { maxTurns, tools } = environment.config
    const grammar = ActionParser.grammar(tools)
    return loop(environment, { maxTurns, grammar: () => grammar })
  }
}

/** The grammar of a turn that can only answer. */
export const answers: ActionParser.Grammar = ActionParser.grammar([])

/**
 * The robust loop: the policy writes a turn, a tool replies to its action, the policy is shown the reply, until it answers
 * or a limit is reached. A turn without a valid action costs a turn, and the policy is shown a message.
 */
export const loop = ({ config }: Environment, { before, digest, grammar, maxTurns }: Options) =>
  function* (conversation: Conversation): Program {
    for (;;) {
      if (before !== undefined) yield* before(conversation)
      const action = yield* conversation.turn(grammar(conversation.turns.length))
      const ending = over(conversation, action, maxTurns)
      if (ending !== null) return ending
      yield* conversation.show(
        action.kind === "invalid" ? config.texts.invalidAction : yield* consult(conversation, action, digest)
      )
    }
  }

/** Calls the tool of an action, and returns the shown part of its reply. */
export function* consult(
  conversation: Conversation,
  action: Trajectory.Action,
  digest?: Options["digest"]
): Program<string> {
  const reply = yield* conversation.call(action.kind, action.content)
  if (Result.isFailure(reply)) return Observation.rejected(action.kind, reply.failure.reason)
  return digest === undefined ? reply.success : yield* digest(conversation, action, reply.success)
}

/** Why the episode ends after a turn, if it does. A tool is not called if its reply could not be shown. */
export const over = (conversation: Conversation, { kind }: Trajectory.Action, maxTurns: number): Ending | null => {
  const { canShow, room, turns } = conversation
  if (kind === "answer") return "answered"
  if (room <= 0) return "context-exhausted"
  if (turns.length > maxTurns) return exhausted(conversation, kind)
  return canShow ? null : "context-exhausted"
}

/** How an episode ends with its last turn. A turn that its limit cut could not act, so it says nothing of the policy's actions. */
export const exhausted = ({ isCut }: Conversation, kind: Trajectory.Action["kind"]): Ending =>
  kind === "invalid" && !isCut ? "invalid-action" : "turns-exhausted"

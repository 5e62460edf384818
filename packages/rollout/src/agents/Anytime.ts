import * as ActionParser from "../ActionParser.ts"
import type { Agent } from "../Agent.ts"
import * as ToolLoop from "./ToolLoop.ts"

/**
 * The agent `anytime`: the loop of `search-r1`, in which an answer is asked for before each turn: after 0, 1, 2, … calls. The
 * policy writes it after what it has seen so far and a request; neither is part of the conversation, so the answer depends on
 * the prefix alone, and asking changes nothing. Train it with `train.credit: anytime`, which credits a turn with the answers from
 * it on.
 *
 * AnytimeReasoner cuts a thought at budgets of tokens, and samples 4 answers at each cut; here the cuts are the turns, with one
 * answer each, which is not trained.
 */
export const agent: Agent<"anytime"> = {
  name: "anytime",
  description: "is `search-r1` with an answer asked for before each turn, outside the conversation",
  source: "AnytimeReasoner, arXiv 2505.13438",
  supplies: "scores of answers at each turn",
  tools: (config) => config.tools,
  asides: (turns) => turns,
  maximumTokens: (limits, contextLength) =>
    ToolLoop.maximumTokens(limits, contextLength) + (limits.maxTurns + 1) * contextLength,
  make: (environment) => {
    const { maxTurns, tools } = environment.config
    const grammar = ActionParser.grammar(tools)
    return ToolLoop.loop(environment, {
      maxTurns,
      grammar: () => grammar,
      before: (conversation) => conversation.peek(request, ToolLoop.answers.stop)
    })
  }
}

/** The request for an answer. Tags in it would be made harmless, as those of a tool's result. */
export const request = "Give the final answer now, with what you know."

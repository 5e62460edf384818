import type { Trajectory } from "@inspo/domain"
import * as ActionParser from "../ActionParser.ts"
import type { Agent, Conversation } from "../Agent.ts"
import type { Program } from "../Episode.ts"
import * as ToolLoop from "./ToolLoop.ts"

/**
 * The agent `search-o1`: the loop of `search-r1`, but the policy itself first condenses a tool's result, under a separate
 * prompt, and is shown only this summary. Its tokens count as observation: they answer another prompt. If the summary is
 * empty or has no room, the result is shown unchanged.
 */
export const agent: Agent<"search-o1"> = {
  name: "search-o1",
  description: "is `search-r1` with its own summaries of tool results",
  source: "Search-o1, arXiv 2501.05366",
  // Between its turns it condenses each reply in another call.
  asides: (turns) => turns - 1,
  tools: (config) => config.tools,
  // A reply may be condensed after each turn, under a separate prompt.
  maximumTokens: (limits, contextLength) =>
    ToolLoop.maximumTokens(limits, contextLength) + limits.maxTurns * contextLength,
  make: (environment) => {
    const { maxTurns, tools } = environment.config
    const grammar = ActionParser.grammar(tools)
    return ToolLoop.loop(environment, { maxTurns, grammar: () => grammar, digest: condense })
  }
}

/** The request to condense a tool's result. */
export const request = "Say in one sentence what this tells about the question."

function* condense(conversation: Conversation, { content, kind }: Trajectory.Action, text: string): Program<string> {
  const asked = conversation.episode.question.question.trim()
  const documents = conversation.excerpt(text)
  const prompt = `Question: ${asked} <${kind}> ${content}</${kind}>${documents} ${request}`
  const written = yield* conversation.aside("condense", [{ role: "user", content: prompt }], ["</think>", "</answer>"])
  return ActionParser.withoutTags(written ?? "") || text
}

import type { Trajectory } from "@inspo/domain"
import * as ActionParser from "../ActionParser.ts"
import type { Agent } from "../Agent.ts"
import type { Conversation } from "../Conversation.ts"
import type { Program } from "../Program.ts"
import * as ToolLoop from "./ToolLoop.ts"

/**
 * The agent `search-o1`: the loop of `search-r1`, but what a tool returned is first condensed by the policy itself, under a
 * prompt of its own, and only the condensation is shown. Its tokens count as observation: they answer another prompt. A
 * condensation that comes out empty, or has no room, leaves the text as it was.
 */
export const agent: Agent = {
  tools: (config) => config.tools,
  // A reply may be condensed after each turn, under a prompt of its own.
  maximumTokens: ({ maxTurns }, contextLength) => (1 + maxTurns) * contextLength,
  make: (environment) => {
    const { maxTurns, tools } = environment.config
    const grammar = ActionParser.grammar(tools)
    return ToolLoop.loop(environment, { maxTurns, grammar: () => grammar, digest: condense })
  }
}

/** How the policy is asked to condense what a tool returned. */
export const request = "Say in one sentence what this tells about the question."

function* condense(conversation: Conversation, { content, kind }: Trajectory.Action, text: string): Program<string> {
  const asked = conversation.episode.question.question.trim()
  const documents = conversation.excerpt(text)
  const prompt = `Question: ${asked} <${kind}> ${content}</${kind}>${documents} ${request}`
  const written = yield* conversation.aside("condense", [{ role: "user", content: prompt }], ["</think>", "</answer>"])
  return ActionParser.withoutTags(written ?? "") || text
}

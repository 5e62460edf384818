import * as ActionParser from "../ActionParser.ts"
import type { Agent } from "../Agent.ts"
import * as ToolLoop from "./ToolLoop.ts"

/** The agent `tool-calls`: the loop of `search-r1`, by the tool calls of a chat model's API. */
export const agent: Agent<"tool-calls"> = {
  name: "tool-calls",
  description:
    "is `search-r1` for a chat model that calls the tools by the tool calls of its API; a message without a call is its answer",
  protocol: "tool-calls",
  tools: (config) => config.tools,
  maximumTokens: ToolLoop.maximumTokens,
  make: (environment) => {
    const { maxTurns, tools } = environment.config
    const grammar = { ...ActionParser.grammar(tools), native: tools }
    return ToolLoop.loop(environment, { maxTurns, grammar: () => grammar })
  }
}

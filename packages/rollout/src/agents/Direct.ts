import type { Agent } from "../Agent.ts"
import * as ToolLoop from "./ToolLoop.ts"

/**
 * The agent `direct`: one turn, no tools. It shows what the policy knows by itself, so it is the baseline of all agents that
 * search.
 */
export const agent: Agent<"direct"> = {
  name: "direct",
  description: "answers in one turn, without tools",
  tools: () => [],
  turns: () => 1,
  maximumTokens: ToolLoop.maximumTokensOfAnswer,
  make: (environment) => ToolLoop.loop(environment, { maxTurns: 0, grammar: () => ToolLoop.answers })
}

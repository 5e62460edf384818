/** The registry of agents: a new one is a file beside this one, and a line here. */
import { Schema } from "effect"
import type { Agent, TokenLimits } from "../Agent.ts"
import type { EpisodeConfig } from "../EpisodeConfig.ts"
import * as Direct from "./Direct.ts"
import * as IrCot from "./IrCot.ts"
import * as IterResearch from "./IterResearch.ts"
import * as Rag from "./Rag.ts"
import * as SearchO1 from "./SearchO1.ts"
import * as SearchR1Exact from "./SearchR1Exact.ts"
import * as ToolCalls from "./ToolCalls.ts"
import * as ToolLoop from "./ToolLoop.ts"

/** The agents that a config can name. */
export const agents = [
  Direct.agent,
  Rag.agent,
  IrCot.agent,
  SearchO1.agent,
  IterResearch.agent,
  ToolLoop.agent,
  SearchR1Exact.agent,
  ToolCalls.agent
] as const

/** The name of an agent. */
export const AgentName = Schema.Literals(agents.map(({ name }) => name))
export type AgentName = typeof AgentName.Type

/** The agent of a config. */
export const fromConfig = ({ agent }: { readonly agent: AgentName }): Agent =>
  agents.find(({ name }) => name === agent) ?? ToolLoop.agent

/** What the policy of an agent may do by itself: call one of these tools, or `answer`. */
export const actions = ({ policyTools, tools }: Agent, config: Pick<EpisodeConfig, "tools">): ReadonlyArray<string> => [
  ...(policyTools ?? tools(config)),
  "answer"
]

/** Whether an agent searches, by itself or by calls of its policy. */
export const searches = ({ tools }: Agent, config: Pick<EpisodeConfig, "tools">): boolean =>
  tools(config).includes("search")

/**
 * The most tokens of an episode of an agent, asides included. The default context holds the longest conversation that the
 * limits allow `search-r1`.
 */
export const maximumTokens = (
  { maximumTokens = (_, contextLength) => contextLength }: Agent,
  limits: TokenLimits,
  contextLength: number = ToolLoop.maximumTokens(limits)
): number => maximumTokens(limits, contextLength)

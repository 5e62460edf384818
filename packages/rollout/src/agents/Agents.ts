/** The registry of agents: a new one is a file beside this one, and a line here. */
import type { Choice, Method } from "@inspo/domain"
import { Schema } from "effect"
import type { Agent, AgentKind, TokenLimits } from "../Agent.ts"
import type { EpisodeConfig } from "../EpisodeConfig.ts"
import * as Anytime from "./Anytime.ts"
import * as Budgets from "./Budgets.ts"
import * as Defer from "./Defer.ts"
import * as Delethink from "./Delethink.ts"
import * as Direct from "./Direct.ts"
import * as Graph from "./Graph.ts"
import * as IrCot from "./IrCot.ts"
import * as IterResearch from "./IterResearch.ts"
import * as Lookahead from "./Lookahead.ts"
import * as Memory from "./Memory.ts"
import * as Modes from "./Modes.ts"
import * as Outside from "./Outside.ts"
import * as Rag from "./Rag.ts"
import * as Reflect from "./Reflect.ts"
import * as SearchO1 from "./SearchO1.ts"
import * as SearchR1Exact from "./SearchR1Exact.ts"
import * as ToolCalls from "./ToolCalls.ts"
import * as ToolLoop from "./ToolLoop.ts"

/** An agent without parameters. */
const plain = <const Name extends string>(agent: Agent<Name>): AgentKind<Name, {}> => ({
  name: agent.name,
  description: agent.description ?? "",
  source: agent.source ?? "a baseline",
  certainty: "text",
  defaults: {},
  of: () => agent
})

/** The agents that a config can name. */
export const agents = [
  plain(Direct.agent),
  plain(Rag.agent),
  plain(IrCot.agent),
  plain(SearchO1.agent),
  plain(IterResearch.agent),
  plain(Memory.agent),
  plain(Reflect.agent),
  Delethink.agent,
  plain(Anytime.agent),
  Budgets.agent,
  Modes.agent,
  Defer.agent,
  plain(Graph.agent),
  Lookahead.agent,
  plain(ToolLoop.agent),
  plain(SearchR1Exact.agent),
  plain(ToolCalls.agent),
  Outside.agent
] as const

/** The name of an agent. */
export const AgentName = Schema.Literals(agents.map(({ name }) => name))
export type AgentName = typeof AgentName.Type

/** An agent with its parameters. */
export type AgentChoice = Choice.Of<(typeof agents)[number]>

/** The agent of a config. */
export const fromConfig = ({ agent }: { readonly agent: AgentName | AgentChoice }): Agent => {
  const { name: called, ...parameters } = typeof agent === "string" ? { name: agent } : agent
  const kind: AgentKind<string, Method.Constants, Readonly<Record<string, unknown>>> = agents.find(
    ({ name }) => name === called
  ) ?? plain(ToolLoop.agent)
  return kind.of({ ...kind.defaults, ...parameters })
}

/** What the policy of an agent may do by itself: call one of these tools, an action of the agent, or `answer`. */
export const actions = (
  { ownActions = [], policyTools, tools }: Agent,
  config: Pick<EpisodeConfig, "tools">
): ReadonlyArray<string> => [...(policyTools ?? tools(config)), ...ownActions, "answer"]

/** Whether an agent searches, by itself or by calls of its policy. */
export const searches = ({ tools }: Agent, config: Pick<EpisodeConfig, "tools">): boolean =>
  tools(config).includes("search")

/** The most tokens of an episode, asides included. The default context holds the longest conversation of `search-r1`. */
export const maximumTokens = (
  { maximumTokens = (_, contextLength) => contextLength }: Agent,
  limits: TokenLimits,
  contextLength: number = ToolLoop.maximumTokens(limits)
): number => maximumTokens(limits, contextLength)

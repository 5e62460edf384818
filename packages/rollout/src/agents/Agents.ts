import type { Agent, TokenLimits } from "../Agent.ts"
import type { AgentName, RolloutConfig } from "../RolloutConfig.ts"
import * as IrCot from "./IrCot.ts"
import * as Rag from "./Rag.ts"
import * as Reference from "./Reference.ts"
import * as SearchO1 from "./SearchO1.ts"
import * as ToolLoop from "./ToolLoop.ts"

const agents: Readonly<Record<AgentName, Agent>> = {
  direct: ToolLoop.direct,
  rag: Rag.agent,
  ircot: IrCot.agent,
  "search-o1": SearchO1.agent,
  "search-r1": ToolLoop.agent,
  "search-r1-exact": Reference.agent,
  "tool-calls": ToolLoop.byToolCalls
}

/** The agent of a config. */
export const fromConfig = ({ agent }: Pick<RolloutConfig, "agent">): Agent => agents[agent]

/** What the policy of an agent may do by itself: call one of these tools, or `answer`. */
export const actions = ({ policyTools, tools }: Agent, config: Pick<RolloutConfig, "tools">): ReadonlyArray<string> => [
  ...(policyTools ?? tools(config)),
  "answer"
]

/** Whether an agent searches, by itself or by calls of its policy. */
export const searches = ({ tools }: Agent, config: Pick<RolloutConfig, "tools">): boolean =>
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

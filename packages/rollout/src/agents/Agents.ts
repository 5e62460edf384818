import type { Agent } from "../Agent.ts"
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

/** What the policy of a config's agent may do by itself: call one of these tools, or `answer`. */
export const actions = (config: Pick<RolloutConfig, "agent" | "tools">): ReadonlyArray<string> => {
  const { policyTools, tools } = fromConfig(config)
  return [...(policyTools ?? tools(config)), "answer"]
}

/** Whether a config's agent searches, by itself or by calls of its policy. */
export const searches = (config: Pick<RolloutConfig, "agent" | "tools">): boolean =>
  fromConfig(config).tools(config).includes("search")

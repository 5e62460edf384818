import type { Agent } from "../Agent.ts"
import type { RolloutConfig } from "../RolloutConfig.ts"
import * as IrCot from "./IrCot.ts"
import * as Rag from "./Rag.ts"
import * as Reference from "./Reference.ts"
import * as SearchO1 from "./SearchO1.ts"
import * as ToolLoop from "./ToolLoop.ts"

/** What the policy of a config's agent may do by itself: call one of these tools, or `answer`. */
export const actions = (config: Pick<RolloutConfig, "agent" | "tools">): ReadonlyArray<string> =>
  config.agent === "direct" || config.agent === "rag" ? ["answer"] : [...fromConfig(config).tools(config), "answer"]

/** Whether a config's agent looks anything up, by itself or as its policy asks for it. */
export const searches = (config: Pick<RolloutConfig, "agent" | "tools">): boolean =>
  fromConfig(config).tools(config).includes("search")

/** The agent a config asks for. */
export const fromConfig = ({ agent }: Pick<RolloutConfig, "agent">): Agent => {
  switch (agent) {
    case "direct":
      return ToolLoop.direct
    case "rag":
      return Rag.agent
    case "ircot":
      return IrCot.agent
    case "search-o1":
      return SearchO1.agent
    case "search-r1":
      return ToolLoop.agent
    case "search-r1-exact":
      return Reference.agent
  }
}

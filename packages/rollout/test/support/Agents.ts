import { type AgentChoice, AgentName, RolloutConfig } from "@inspo/rollout"
import { Schema } from "effect"

/** The agents that keep tokens as sampled: all but the one that does as the Search-R1 code, which has laws of its own. */
export const KeepingAgent = AgentName.pick(["direct", "rag", "ircot", "search-o1", "search-r1"])

const given: Readonly<Record<string, object>> = {
  modes: { forced: 1 },
  lookahead: { width: 2, depth: 1 },
  defer: { attempts: 2, expert: "search" },
  outside: { program: "agent" }
}

/** An agent with parameters where it has no defaults. */
export const choice = (name: AgentName): AgentChoice =>
  Schema.decodeSync(RolloutConfig.fields.agent)({ name, ...given[name] })

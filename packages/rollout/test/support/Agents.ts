import { AgentName } from "@inspo/rollout"

/** The agents that keep tokens as sampled: all but the one that does as the Search-R1 code, which has laws of its own. */
export const KeepingAgent = AgentName.pick(["direct", "rag", "ircot", "search-o1", "search-r1"])

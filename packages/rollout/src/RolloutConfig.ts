import { Schema } from "effect"
import { AgentName, agents } from "./agents/Agents.ts"
import { defaultEpisodeConfig, EpisodeConfig } from "./EpisodeConfig.ts"

export { AgentName } from "./agents/Agents.ts"
export * from "./EpisodeConfig.ts"

/** How an agent answers a question: the agent, and the settings of its episodes. */
export const RolloutConfig = Schema.Struct({
  agent: AgentName.annotate({
    description: `How the agent works: ${agents.map(({ description, name }) => `\`${name}\` ${description}`).join("; ")}`
  }),
  ...EpisodeConfig.fields
})
export interface RolloutConfig extends Schema.Schema.Type<typeof RolloutConfig> {}

/** The values of the INSPO paper (Appendix B, 3B model) with passages as `{title}: {text}`. */
export const defaultConfig: RolloutConfig = { agent: "search-r1", ...defaultEpisodeConfig }

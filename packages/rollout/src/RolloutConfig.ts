import { Choice } from "@inspo/domain"
import { Schema } from "effect"
import { type AgentChoice, type AgentName, agents } from "./agents/Agents.ts"
import { defaultEpisodeConfig, EpisodeConfig } from "./EpisodeConfig.ts"

export { type AgentChoice, AgentName } from "./agents/Agents.ts"
export * from "./EpisodeConfig.ts"

/** How an agent answers a question: the agent, and the settings of its episodes. */
export const RolloutConfig = Schema.Struct({
  agent: Choice.of(
    agents,
    `How the agent works: ${agents.map(({ description, name }) => `\`${name}\` ${description}`).join("; ")}`
  ),
  ...EpisodeConfig.fields
})
export interface RolloutConfig extends Schema.Schema.Type<typeof RolloutConfig> {}

/** The values of the INSPO paper (Appendix B, 3B model) with passages as `{title}: {text}`. */
export const defaultConfig: RolloutConfig = { agent: { name: "search-r1" }, ...defaultEpisodeConfig }

/** A config as programs write it: what is left out is as in `defaultConfig`, and an agent can be its name. */
export interface RolloutOptions extends Partial<Omit<RolloutConfig, "agent">> {
  readonly agent?: AgentName | AgentChoice
}

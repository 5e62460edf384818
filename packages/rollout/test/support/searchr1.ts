import { defaultConfig, type RolloutConfig } from "@inspo/rollout"

/** The configuration of `docs/how-to/search-r1.md`, but for the message after an invalid action, which is Search-R1's own. */
export const searchr1: RolloutConfig = {
  ...defaultConfig,
  agent: { name: "search-r1-exact" },
  scoredTurns: "all",
  texts: { ...defaultConfig.texts, prompt: "{instruction} Question: {question}\n" }
}

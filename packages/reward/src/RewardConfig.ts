import { Choice } from "@inspo/domain"
import { Schema } from "effect"
import type { RewardKind } from "./RewardKind.ts"
import { builtIn, kinds } from "./Rewards.ts"

export { defaultOptions } from "./RewardKind.ts"
export { Scope } from "./Scope.ts"

/** Which reward a run uses. */
export const RewardConfig = Schema.Struct({
  kind: Choice.of(
    kinds,
    `The reward: ${kinds.map(({ description, name }) => `${description} (\`${name}\`)`).join(", ")}`
  )
})
export interface RewardConfig extends Schema.Schema.Type<typeof RewardConfig> {}

/** The reward of a config. */
export const kindOf = ({ kind }: RewardConfig): RewardKind => kinds.find(({ name }) => name === kind.name) ?? builtIn.em

/** The language model of a reward and its criteria, or null. */
export const judgeOf = ({ kind }: RewardConfig) => ("model" in kind ? kind : null)

/** The program of a reward and its arguments, or null. */
export const commandOf = ({ kind }: RewardConfig) => ("command" in kind ? kind.command : null)

/** What a mean of rewards is called in tables and figures. */
export const measure = (config: RewardConfig): string => kindOf(config).label

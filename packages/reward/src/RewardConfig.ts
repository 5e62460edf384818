import { Schema } from "effect"
import { defaultOptions, type RewardKind, RewardOptions } from "./RewardKind.ts"
import { builtIn, kinds } from "./Rewards.ts"

export { Scope } from "./Scope.ts"

/** Which reward a run uses. */
export const RewardConfig = Schema.Struct({
  kind: Schema.Literals(kinds.map(({ name }) => name)).annotate({
    description: `The reward: ${kinds.map(({ description, name }) => `${description} (\`${name}\`)`).join(", ")}`
  }),
  ...RewardOptions.fields
})
export interface RewardConfig extends Schema.Schema.Type<typeof RewardConfig> {}

/** The reward of a config. */
export const kindOf = ({ kind }: Pick<RewardConfig, "kind">): RewardKind<RewardConfig["kind"]> =>
  kinds.find(({ name }) => name === kind) ?? builtIn.em

/** What a mean of rewards is called in tables and figures. */
export const measure = (config: Pick<RewardConfig, "kind">): string => kindOf(config).label

/** The reward of the paper: exact match of the response's answer. */
export const defaultConfig: RewardConfig = { kind: "em", ...defaultOptions }

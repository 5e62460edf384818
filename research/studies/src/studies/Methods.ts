import type { RunConfig } from "@inspo/config"
import { Advantage, Credits, Keeps, Losses } from "@inspo/policy-gradient"
import { GroupRewards } from "@inspo/reward"
import { Schema } from "effect"
import { type Arm, atRates, having, inBatchesOf, single } from "../Arm.ts"
import type { Study } from "../Study.ts"

/** A change of GRPO, by the name of its arm. */
interface Variant {
  readonly name: string
  readonly change: (config: RunConfig) => RunConfig
}

const train = (name: string, change: Partial<RunConfig["train"]>): Variant => ({
  name,
  change: (config) => having(config, "train", change)
})

/** What every study compares with: the update of the presets. */
const grpo: Variant = { name: "grpo", change: (config) => config }

/** Leave-one-out is a multiple of `centred`, which AdamW does not distinguish from it. */
const advantages = Advantage.estimators
  .map(({ name }) => name)
  .filter((name) => name !== "standardised" && name !== "leave-one-out")
  .map((name) => train(name, { advantage: Schema.decodeSync(Advantage.Advantage)(name) }))

const credit = (name: string, written: typeof Credits.Credit.Encoded): Variant =>
  train(name, { credit: Schema.decodeSync(Credits.Credit)(written) })

const keep = (name: string, written: typeof Keeps.Keep.Encoded): Variant =>
  train(name, { keep: Schema.decodeSync(Keeps.Keep)(written) })

const shaping = (name: string, written: typeof GroupRewards.Shaping.Encoded): Variant => ({
  name,
  change: (config) => ({
    ...config,
    reward: { ...config.reward, shaping: Schema.decodeSync(GroupRewards.Shaping)(written) }
  })
})

/** The same with so many groups a step. */
const sized = (size: number, { change, name }: Variant): Variant => ({
  name,
  change: (config) => inBatchesOf(change(config), size)
})

/** Constants without a published value have one here. */
const onPolicy: ReadonlyArray<Variant> = [
  ...advantages,
  train("gfpo", { advantage: Schema.decodeSync(Advantage.Advantage)({ name: "gfpo", k: 3 }) }),
  credit("discount", { name: "discount", gamma: 0.9 }),
  credit("retrieval", "retrieval"),
  credit("states", "states"),
  keep("differing", "differing"),
  keep("difficulty", "difficulty"),
  keep("finished", "finished"),
  keep("varied", { name: "varied", share: 0.5 }),
  // Half of the groups differ, so that it draws about as many as GRPO.
  sized(8, keep("dynamic-sampling", { name: "differing", draws: 3 })),
  shaping("agreement", "agreement"),
  shaping("flawed", "flawed"),
  shaping("costs", { name: "costs", prices: { search: 0.05 } }),
  shaping("adaptive-tools", "adaptive-tools"),
  shaping("soft-overlong", { name: "soft-overlong", limit: 160, buffer: 80 }),
  shaping("cosine-length", { name: "cosine-length", limit: 160 }),
  shaping("repetition", "repetition"),
  shaping("stability", { name: "stability", weight: 0.2 }),
  { name: "successes", change: (config) => ({ ...config, replay: { ...config.replay, successes: 8 } }) }
]

/** Samples under another instruction, of which there must be one. Its batch makes up for its further rollouts. */
const rescue = sized(12, {
  name: "rescue",
  change: (config) => having(config, "rollout", { rescue: { attempts: 5, members: 2 } })
})

const stale: ReadonlyArray<Variant> = [
  train("clip-higher", { loss: Schema.decodeSync(Losses.Loss)({ name: "clip", high: 0.28 }) }),
  ...Losses.losses
    .map(({ name }) => name)
    .filter((name) => name !== "clip" && name !== "icpo" && name !== "ratio-variance")
    .map((name) => train(name, { loss: Schema.decodeSync(Losses.Loss)(name) })),
  train("ratio-variance", { loss: Schema.decodeSync(Losses.Loss)({ name: "ratio-variance", lambda: 0.5 }) })
]

/** Samples that are up to two updates and an epoch old, so that losses differ. */
const asStale = (config: RunConfig): RunConfig =>
  having(config, "train", { staleness: 1, miniBatch: { ...config.train.miniBatch, size: 8, epochs: 2 } })

/** The seed instruction alone, under which few rollouts succeed. */
const asLowRate = (config: RunConfig): RunConfig => ({
  ...having(config, "population", { size: 1 }),
  variants: []
})

const arms = (prefix: string, variants: ReadonlyArray<Variant>, setting: (config: RunConfig) => RunConfig) =>
  [grpo, ...variants].map(({ change, name }) =>
    single(`${prefix}-${name}`, `${name}, with the update of GRPO otherwise`, (config) => change(setting(config)))
  )

const measures = [
  { metric: "groups/mixed", title: "groups with a gradient", digits: 2 },
  { metric: "response_length/mean", title: "response length", digits: 1 },
  { metric: "kl", title: "KL", digits: 4 }
] as const

const study = (name: string, title: string, compared: ReadonlyArray<Arm>): Study => ({
  name,
  title,
  arms: compared,
  comparisons: compared.slice(1).map(({ name }) => [name, compared[0]?.name ?? ""] as const),
  notes: ["The plan, written before the runs, is research/docs/methods-study.md."],
  measures
})

const onPolicyArms = arms("method", [...onPolicy, rescue], grpo.change)
const staleArms = arms("stale", stale, asStale)

/** Which method of the update helps: tuned, then compared, then from a low base rate. */
export const methodStudies: ReadonlyArray<Study> = [
  study("methods-tuning", "The learning rate of each method", atRates([...onPolicyArms, ...staleArms])),
  study("methods", "Methods of the update, with fresh samples", onPolicyArms),
  study("methods-low-rate", "Methods of the update, from a low base rate", arms("low", onPolicy, asLowRate)),
  study("methods-stale", "Losses, with stale samples", staleArms)
]

import { type RunConfig, staticConfig } from "@inspo/config"
import { type Arm, single, withBudgetOf } from "../Arm.ts"
import type { Study } from "../Study.ts"

/** How often the initial policy looks up one entity at a time without a clause for it; 0.05 for the shipped policy. */
const baseRates = [0.02, 0.05, 0.15, 0.3, 0.6]

/** The share of the usual steps that the policy trains for, with as many prunes and evolutions in it. */
const budgets = [1 / 3, 1]

const shippedRate = 0.05

/** Where `pretrain base-rates` writes the checkpoints of the other rates, from the directory that the study runs in. */
const modelOf = (rate: number): string => `runs/base-rates/${rate}`

const configured =
  (rate: number, budget: number) =>
  (config: RunConfig): RunConfig => {
    const scaled = (steps: number) => Math.max(1, Math.round(steps * budget))
    const { evolveEvery, evolveUntil, pruneEvery, steps } = config.schedule
    return {
      ...config,
      schedule: {
        ...config.schedule,
        steps: scaled(steps),
        pruneEvery: scaled(pruneEvery),
        evolveEvery: scaled(evolveEvery),
        evolveUntil: evolveUntil === null ? null : scaled(evolveUntil)
      },
      engine: { ...config.engine, model: rate === shippedRate ? config.engine.model : modelOf(rate) }
    }
  }

const pairsAt = (rate: number): ReadonlyArray<readonly [Arm, Arm]> =>
  budgets.map((budget) => {
    const at = `${rate}${budget === 1 ? "" : `-budget-${budget.toFixed(2)}`}`
    const what = `base rate ${rate}, ${budget === 1 ? "all" : "a third of the"} steps`
    // The shipped policy under the whole budget is what other studies run.
    const shared = rate === shippedRate && budget === 1
    const own = shared ? "evolved" : `evolved-at-${at}`
    return [
      single(own, `${what}: policy and instruction evolve together`, configured(rate, budget)),
      withBudgetOf(
        own,
        shared ? "static" : `static-at-${at}`,
        `${what}: the seed instruction alone, equal rollouts`,
        (config, rollouts) => staticConfig(configured(rate, budget)(config), rollouts)
      )
    ]
  })

const pairs = baseRates.flatMap(pairsAt)

/** The rarest and the most common behaviour, which decide whether the gain depends on it. */
const ends = [0.02, 0.6].flatMap(pairsAt)

/** The gain of co-evolution by the base rate of the useful behaviour and by the training budget. */
export const whenItPays: Study = {
  name: "when-it-pays",
  title: "When co-evolution pays",
  arms: pairs.flat(),
  main: ends.flat().map(({ name }) => name),
  comparisons: pairs.map(([evolved, fixed]) => [evolved.name, fixed.name] as const),
  notes: [
    "The base rate is how often the initial policy looks up one entity at a time when its instruction does not ask for it. " +
      "Each rate has a checkpoint of its own, made from the shipped one by `pnpm --filter @inspo/pretrain base-rates`."
  ]
}

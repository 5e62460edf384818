import { asksModel } from "@inspo/coevolution"
import { ProbeRollouts, type Plan } from "@inspo/analysis"
import { JudgeCost, type RunConfig, algorithmOf } from "@inspo/config"
import { Text, count, plural } from "@inspo/report"
import { Agents } from "@inspo/rollout"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, FileSystem, Layer } from "effect"
import type { LoadedData } from "../config/Data.ts"
import { commandFailure, usageError } from "../Failure.ts"
import { agentOf, layerServices } from "../layers.ts"
import * as PolicyPlan from "../report/PolicyPlan.ts"
import * as ProbeReport from "../report/ProbeReport.ts"
import type { Reporter } from "../terminal/Reporter.ts"

export interface ProbeInput {
  readonly config: RunConfig
  readonly loaded: LoadedData
  readonly forecast: Plan.Forecast
  /** At most so many. */
  readonly rollouts: number
  readonly reporter: Reporter
}

/** Asks the untrained policy under the first instructions of a run, within its budget, and judges whether instructions pay. */
export const probe = Effect.fn("Probe.probe")(function* (input: ProbeInput) {
  const { config, forecast, loaded, reporter } = input
  const groups = yield* checked(input)
  yield* reporter.lines(["", ...Text.wrap(cost(input, groups), reporter.columns)])
  const planned = ProbeReport.plannedOf(config, forecast)
  const fs = yield* FileSystem.FileSystem
  const checkpoints = yield* fs.makeTempDirectoryScoped()
  const found = yield* ProbeRollouts.probe({
    algorithm: algorithmOf(config),
    data: loaded.data,
    budget: config.budget,
    scoringAtMost: (question) => JudgeCost.atMost(config, question),
    ...planned,
    groups
  }).pipe(
    Effect.catchTags({
      BudgetReached: ({ cap, limit, spent }) =>
        Effect.fail(
          commandFailure(
            `The probe stopped: its next work could pass budget.${cap}, which is ${limit}; ${spent} are spent. Raise it with ` +
              `--set budget.${cap}=…, or make fewer rollouts with --probe.`
          )
        ),
      TooManyFailures: ({ example, failed, total }) =>
        Effect.fail(
          commandFailure(
            `The probe stopped: ${failed} of ${total} rollouts failed. One of them: ${example}. Fix the cause and repeat it.`
          )
        ),
      ConfigError: ({ message }) => Effect.fail(usageError(message))
    }),
    Effect.provide(Layer.provideMerge(layerServices(config, loaded.passages, checkpoints), layerMemory))
  )
  return ProbeReport.make(config, planned, found, new Set(loaded.data.train.map(({ id }) => id)).size)
}, Effect.scoped)

/** How many groups the probe may make; fails if they are too few to compare instructions. */
const checked = Effect.fnUntraced(function* ({ config, loaded, rollouts }: ProbeInput) {
  const { groupSize } = config.rollout
  if (config.control.demonstrations !== null)
    return yield* usageError(
      `control.demonstrations is ${config.control.demonstrations}, but a probe is for policies that learn from their own rollouts. Set it to null.`
    )
  if (loaded.data.train.length < leastGroups)
    return yield* usageError(
      `${loaded.description} has ${loaded.data.train.length} training questions, expected at least ${leastGroups} for --probe.`
    )
  const instructions = instructionsOf(config)
  const least = 2 * leastGroups * instructions * groupSize
  if (rollouts < least)
    return yield* usageError(
      `--probe is ${rollouts}, expected at least ${least} rollouts: twice ${leastGroups} groups of ${groupSize} (rollout.groupSize) ` +
        `under each of ${plural(instructions, "instruction")}. Raise it, or set a smaller population.size.`
    )
  return Math.floor(rollouts / groupSize)
})

/** The variance of groups needs two. */
const leastGroups = 2

/** The size of the first population. */
const instructionsOf = ({ population, variants }: RunConfig): number => Math.max(population.size, 1 + variants.length)

/** What the probe does and can spend. */
const cost = ({ config, forecast, loaded }: ProbeInput, groups: number): string => {
  const instructions = instructionsOf(config)
  const { groupSize } = config.rollout
  const rollouts = groupSize * Math.min(groups, instructions * loaded.data.train.length)
  const none = { min: 0, expected: 0, max: 0 }
  const policy = PolicyPlan.make(
    config,
    {
      ...forecast,
      rollouts: { train: rollouts, verification: 0, evaluation: 0 },
      bounds: { ...forecast.bounds, verification: none }
    },
    loaded.data.train
  )
  const tokens =
    policy === null
      ? `${count(rollouts * Agents.maximumTokens(agentOf(config), config.rollout))} tokens`
      : `${count(policy.calls.max)} calls of ${policy.model}` +
        (policy.usd === null ? "" : ` for ${policy.usd.max.toFixed(2)} US dollars`)
  const proposer = asksModel(config) && instructions > 1 + config.variants.length ? ", and a proposer call" : ""
  return (
    `Probing with at most ${count(rollouts)} rollouts, in groups of ${groupSize} under ${plural(instructions, "instruction")}; at most ` +
    `${tokens}${proposer}.`
  )
}

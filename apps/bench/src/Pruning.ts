import { SuccessiveHalving } from "@inspo/successive-halving"
import { type Algorithm, Presets, Strategies, ValueChoices } from "@inspo/coevolution"
import { Effect } from "effect"
import { median } from "simple-statistics"
import type { Host } from "./Host.ts"
import { proportion } from "@inspo/statistics/Exact"
import { markdown, type Need, type PruningResult, type RuleResult, type WorldResult } from "./PruningResult.ts"
import { type Loop, type Outcome, simulate } from "./simulation/Pruning.ts"
import type * as World from "./simulation/World.ts"
import { assertSimulations, save, simulateAll, type SimulationInput } from "./Simulations.ts"

/**
 * Simulates populations with known true rewards under each pruning rule: how often a rule prunes the best instruction at
 * an equal budget, and the budget of a decision with known risk.
 */
export const bench = Effect.fn("Pruning.bench")(function* <E, R>(host: Host<E, R>, input: SimulationInput) {
  const { out, seed } = input
  yield* assertSimulations(input)

  const results: Array<WorldResult> = []
  for (const { description, means } of worlds) {
    const world: World.World = { means, correlation, groupSize }
    yield* host.print([description])
    const rules = yield* Effect.forEach(rulesFor(means.length), ({ delta, loop, name }) =>
      Effect.gen(function* () {
        yield* host.print([`  ${name}`])
        return summary(
          name,
          delta,
          yield* simulateAll(input.simulations, seed, (each) => simulate(world, { ...loop, ...budget }, each))
        )
      })
    )
    const needs = yield* Effect.forEach(decisions, ({ batchSize, delta }) =>
      Effect.gen(function* () {
        yield* host.print([`  confident, δ = ${delta}, until one is left, ${batchSize} questions a step`])
        const loop = { ...confident(delta, means.length), ...budget, batchSize, steps: decisionSteps }
        const count = Math.ceil(input.simulations / decisionShare)
        return need(delta, batchSize, yield* simulateAll(count, seed, (each) => simulate(world, loop, each)))
      })
    )
    results.push({ description, means, rules, needs })
  }

  const result: PruningResult = {
    bench: "pruning",
    seed,
    batchSize: budget.batchSize,
    groupSize,
    correlation,
    steps: budget.steps,
    pruneEvery: budget.pruneEvery,
    decisionSteps,
    worlds: results
  }
  yield* save(host, out, result, markdown(result))
  return result
})

const worlds = [
  {
    description: "One is 2.8 points better than six equals",
    means: [0.378, 0.35, 0.35, 0.35, 0.35, 0.35, 0.35]
  },
  {
    description: "The best is 2.8 points ahead, the others one point apart",
    means: [0.378, 0.35, 0.34, 0.33, 0.32, 0.31, 0.3]
  }
]

/** How much the question decides the reward: 0 for independent trajectories, 1 for questions that decide alone. */
const correlation = 0.3
const groupSize = 5

/** The budget of the comparison: prunings at 5, 10 and 15. */
const budget = { batchSize: 64, pruneEvery: 5, steps: 15 }

const deltas = [0.01, 0.05, 0.2]

/** The decisions of the confident rule, and their most steps. */
const decisions = [64, 512].flatMap((batchSize) => [0.05, 0.2].map((delta) => ({ batchSize, delta })))
const decisionSteps = 300
/** One long simulation, which is expensive, for so many short ones. */
const decisionShare = 50

const rulesFor = (size: number) => [
  { name: "bottom-half", delta: null, loop: loopOf(Presets.paper) },
  { name: "spare-unseen", delta: null, loop: loopOf(Presets.robust) },
  ...deltas.map((delta) => ({ name: `confident, δ = ${delta}`, delta, loop: confident(delta, size) }))
]

/** The robust preset with the confident rule, for a single population of this size. */
const confident = (delta: number, size: number): ReturnType<typeof loopOf> => {
  const { parents, ties } = Presets.robust.population
  return {
    ...loopOf({ ...Presets.robust, sampler: { ...Presets.robust.sampler, newcomers: "everyone" } }),
    halving: SuccessiveHalving.confident({ parents, ties, delta, comparisons: size - 1 })
  }
}

const loopOf = (algorithm: Algorithm): Omit<Loop, keyof typeof budget> => {
  const { halving, sampler, valuation } = Strategies.ofAlgorithm(algorithm)
  return { valuation, averaging: ValueChoices.choices(algorithm), sampler, halving, ranking: algorithm.halving.ranking }
}

const countIf = (outcomes: ReadonlyArray<Outcome>, holds: (outcome: Outcome) => boolean) =>
  proportion(outcomes.filter(holds).length, outcomes.length)

const summary = (rule: string, delta: number | null, outcomes: ReadonlyArray<Outcome>): RuleResult => ({
  rule,
  delta,
  found: countIf(outcomes, ({ found }) => found),
  ...losses(outcomes)
})

const losses = (outcomes: ReadonlyArray<Outcome>) => ({
  lost: countIf(outcomes, ({ lostAt }) => lostAt !== null),
  left: median(outcomes.map(({ left }) => left))
})

const need = (delta: number, batchSize: number, outcomes: ReadonlyArray<Outcome>): Need => {
  const middle = median(outcomes.map(({ decidedAt }) => decidedAt ?? Infinity))
  return {
    delta,
    batchSize,
    decided: countIf(outcomes, ({ decidedAt }) => decidedAt !== null),
    medianSteps: Number.isFinite(middle) ? middle : null,
    ...losses(outcomes)
  }
}

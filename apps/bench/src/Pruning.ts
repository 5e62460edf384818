import { SuccessiveHalving } from "@inspo/successive-halving"
import { type Algorithm, Presets, Strategies, ValueChoices } from "@inspo/coevolution"
import { Array as Arr, Effect } from "effect"
import { median } from "simple-statistics"
import type { Host } from "./Host.ts"
import { proportion } from "@inspo/statistics/Exact"
import { markdown, type Need, type PruningResult, type RuleResult, type WorldResult } from "./PruningResult.ts"
import * as Pruning from "./simulation/Pruning.ts"
import type * as World from "./simulation/World.ts"
import { assertSimulations, save, type SimulationInput } from "./Simulations.ts"

/**
 * Simulates populations whose true worth is known, under each pruning rule: how often the best is lost at an equal budget,
 * and what budget a decision with known risk takes.
 */
export const bench = Effect.fn("Pruning.bench")(function* <E, R>(host: Host<E, R>, input: SimulationInput) {
  const { out, seed } = input
  yield* assertSimulations(input)

  const results: Array<WorldResult> = []
  for (const { description, means } of worlds) {
    const world: World.World = { means, correlation, groupSize }
    yield* host.tell([description])
    const rules = yield* Effect.forEach(rulesFor(means.length), ({ delta, loop, name }) =>
      Effect.gen(function* () {
        yield* host.tell([`  ${name}`])
        return summary(name, delta, yield* simulations(world, { ...loop, ...budget }, input.simulations, seed))
      })
    )
    const needs = yield* Effect.forEach(decisions, ({ batchSize, delta }) =>
      Effect.gen(function* () {
        yield* host.tell([`  confident, δ = ${delta}, until one is left, ${batchSize} questions a step`])
        const loop = { ...confident(delta, means.length), ...budget, batchSize, steps: decisionSteps }
        const count = Math.ceil(input.simulations / decisionShare)
        return need(delta, batchSize, yield* simulations(world, loop, count, seed))
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

/** How much a question decides: 0.3 lies between trajectories that are independent and questions that decide alone. */
const correlation = 0.3
const groupSize = 5

/** The budget that rules are compared at: prunes at 5, 10 and 15. */
const budget = { batchSize: 64, pruneEvery: 5, steps: 15 }

const deltas = [0.01, 0.05, 0.2]

/** What the confident rule is to decide, and how long it may take. */
const decisions = [64, 512].flatMap((batchSize) => [0.05, 0.2].map((delta) => ({ batchSize, delta })))
const decisionSteps = 300
/** Long simulations are dear: one for so many short ones. */
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

const loopOf = (algorithm: Algorithm): Omit<Pruning.Loop, keyof typeof budget> => {
  const { halving, sampler, valuation } = Strategies.ofAlgorithm(algorithm)
  return { valuation, averaging: ValueChoices.choices(algorithm), sampler, halving, ranking: algorithm.halving.ranking }
}

const simulations = (world: World.World, loop: Pruning.Loop, count: number, seed: number) =>
  Effect.forEach(Arr.range(seed, seed + count - 1), (each) =>
    Effect.andThen(
      Effect.yieldNow,
      Effect.sync(() => Pruning.simulate(world, loop, each))
    )
  )

const countIf = (outcomes: ReadonlyArray<Pruning.Outcome>, holds: (outcome: Pruning.Outcome) => boolean) =>
  proportion(outcomes.filter(holds).length, outcomes.length)

const summary = (rule: string, delta: number | null, outcomes: ReadonlyArray<Pruning.Outcome>): RuleResult => ({
  rule,
  delta,
  lost: countIf(outcomes, ({ lostAt }) => lostAt !== null),
  found: countIf(outcomes, ({ found }) => found),
  left: median(outcomes.map(({ left }) => left))
})

const need = (delta: number, batchSize: number, outcomes: ReadonlyArray<Pruning.Outcome>): Need => {
  const middle = median(outcomes.map(({ decidedAt }) => decidedAt ?? Infinity))
  return {
    delta,
    batchSize,
    lost: countIf(outcomes, ({ lostAt }) => lostAt !== null),
    decided: countIf(outcomes, ({ decidedAt }) => decidedAt !== null),
    medianSteps: Number.isFinite(middle) ? middle : null,
    left: median(outcomes.map(({ left }) => left))
  }
}

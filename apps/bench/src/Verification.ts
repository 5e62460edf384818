import { type Algorithm, Plan, Presets, Strategies } from "@inspo/coevolution"
import { QuestionId } from "@inspo/domain/Question"
import * as Simulation from "./simulation/Verification.ts"
import { Verification } from "@inspo/verification"
import { Array as Arr, Effect } from "effect"
import type { Host } from "./Host.ts"
import { estimate, proportion } from "@inspo/statistics/Exact"
import { markdown, type Overhead, type RuleResult, type VerificationResult } from "./VerificationResult.ts"
import { assertSimulations, save, type SimulationInput } from "./Simulations.ts"

/**
 * Simulates the verification of candidates whose true worth is known, under each rule: what it takes, how often it is
 * wrong, and what it adds to a whole run.
 */
export const bench = Effect.fn("Verification.bench")(function* <E, R>(host: Host<E, R>, input: SimulationInput) {
  const { out, seed } = input
  yield* assertSimulations(input)

  const results = yield* Effect.forEach(worlds, (world) =>
    Effect.gen(function* () {
      const { description, differences } = world
      yield* host.tell([description])
      const outcomes = yield* Effect.forEach(rules, (rule) =>
        Effect.map(simulations(rule, world, input.simulations, seed), (own) => ({ rule, own }))
      )
      const full = meanRollouts(outcomes[0]?.own ?? [])
      return {
        description,
        differences,
        rules: outcomes.map(({ own, rule }) => summary(rule.name, differences, own, full))
      }
    })
  )

  const result: VerificationResult = {
    bench: "verification",
    seed,
    simulations: input.simulations,
    parent,
    correlation,
    interimEvery,
    worlds: results,
    overheads: [
      overhead("paper", Presets.paper),
      overhead("robust", Presets.robust),
      overhead("robust", withoutReuse(Presets.robust))
    ]
  }
  yield* save(host, out, result, markdown(result))
  return result
})

/** The worth of the parent, about that of a trained policy in the paper. */
const parent = 0.35
/** How much a question decides, as in the simulation of pruning. */
const correlation = 0.3
/** Questions between two interim analyses, as in `robust`. */
const interimEvery = Presets.robust.verification.lookEvery ?? Infinity
const allPlaces = Presets.robust.population.size - Presets.robust.population.parents

const spread = [-0.2, -0.1, -0.05, 0, 0.05, 0.1]
const close = [-0.05, -0.028, -0.01, 0.01, 0.028, 0.05]

const worlds: ReadonlyArray<World> = [
  { description: "Six candidates, from far worse to better", differences: spread, places: allPlaces },
  { description: "The same six for one place", differences: spread, places: 1 },
  { description: "Six candidates, all close to the parent", differences: close, places: allPlaces },
  { description: "Six clones of the parent", differences: [0, 0, 0, 0, 0, 0], places: allPlaces }
]

interface World {
  readonly description: string
  readonly differences: ReadonlyArray<number>
  readonly places: number
}

interface Rule {
  readonly name: string
  readonly strategy: Verification.Strategy
  readonly questions: number
  readonly groupSize: number
}

const options = { rounds: 1, fill: false }
const { samples } = Presets.robust.verification
const arms = Presets.robust.proposer.candidates + 1
const risks = [0.05, 0.01]

const rules: ReadonlyArray<Rule> = [
  { name: `all ${samples} questions`, strategy: Verification.rerunParent(options), questions: samples, groupSize: 1 },
  ...risks.map((stop) => ({
    name: `early stops, risk ${stop}`,
    strategy: Verification.rerunParent({ ...options, stop }),
    questions: samples,
    groupSize: 1
  })),
  {
    name: `early stops, risk 0.05, race`,
    strategy: Verification.rerunParent({ ...options, stop: 0.05, race: true }),
    questions: samples,
    groupSize: 1
  },
  {
    name: "the groups of one reused step",
    strategy: Verification.rerunParent(options),
    questions: Math.floor(Presets.robust.train.batchSize / arms),
    groupSize: Presets.robust.rollout.groupSize
  }
]

const simulations = (
  { groupSize, questions, strategy }: Rule,
  { differences, places }: World,
  count: number,
  seed: number
) =>
  Effect.forEach(Arr.range(seed, seed + count - 1), (each) =>
    Effect.andThen(
      Effect.yieldNow,
      Effect.sync(() =>
        Simulation.simulate(
          {
            parent,
            candidates: differences.map((difference) => parent + difference),
            correlation,
            groupSize,
            questions,
            interimEvery,
            places
          },
          strategy,
          each
        )
      )
    )
  )

const meanRollouts = (outcomes: ReadonlyArray<Simulation.Outcome>): number =>
  outcomes.reduce((sum, { rollouts }) => sum + rollouts, 0) / outcomes.length

const summary = (
  rule: string,
  differences: ReadonlyArray<number>,
  outcomes: ReadonlyArray<Simulation.Outcome>,
  full: number
): RuleResult => {
  const verdicts = outcomes.flatMap(({ accepted }) => Arr.zip(differences, accepted))
  const different = verdicts.filter(([difference]) => difference !== 0)
  const clones = verdicts.filter(([difference]) => difference === 0)
  return {
    rule,
    rollouts: estimate(outcomes.map(({ rollouts }) => rollouts)),
    saved: 1 - meanRollouts(outcomes) / full,
    wrong:
      different.length === 0
        ? null
        : proportion(
            different.filter(([difference, accepted]) => accepted !== difference > 0).length,
            different.length
          ),
    clonesAccepted:
      clones.length === 0 ? null : proportion(clones.filter(([, accepted]) => accepted).length, clones.length)
  }
}

const withoutReuse = (algorithm: Algorithm): Algorithm => ({
  ...algorithm,
  verification: { ...algorithm.verification, reuse: false }
})

const overhead = (preset: string, algorithm: Algorithm): Overhead => {
  const train = Arr.makeBy(2 * algorithm.train.batchSize, (index) => ({
    id: QuestionId.make(`q${index}`),
    dataSource: "world"
  }))
  const { bounds, rollouts } = Plan.forecast(Strategies.deciding(algorithm), { train, validation: 100, test: 500 })
  return {
    preset,
    reuse: algorithm.verification.reuse,
    train: rollouts.train,
    expected: bounds.verification.expected,
    most: bounds.verification.max
  }
}

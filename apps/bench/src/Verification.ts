import { type Algorithm, Plan, Presets, Strategies } from "@inspo/coevolution"
import { QuestionId } from "@inspo/domain/Question"
import * as Simulation from "./simulation/Verification.ts"
import { Verification } from "@inspo/verification"
import { Array as Arr, Effect } from "effect"
import type { Host } from "./Host.ts"
import { estimate, proportion } from "@inspo/statistics/Exact"
import { markdown, type Overhead, type RuleResult, type VerificationResult } from "./VerificationResult.ts"
import { assertSimulations, save, simulateAll, type SimulationInput } from "./Simulations.ts"

/**
 * Simulates the verification of candidates with known true rewards under each rule: its rollouts, how often it is wrong,
 * and the rollouts that it adds to a whole run.
 */
export const bench = Effect.fn("Verification.bench")(function* <E, R>(host: Host<E, R>, input: SimulationInput) {
  const { out, seed } = input
  yield* assertSimulations(input)

  const results = yield* Effect.forEach(worlds, (world) =>
    Effect.gen(function* () {
      const { description, differences } = world
      yield* host.print([description])
      const outcomes = yield* Effect.forEach(rules, (rule) =>
        Effect.map(
          simulateAll(input.simulations, seed, (each) => simulate(rule, world, each)),
          (own) => ({ rule, own })
        )
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

/** The true reward of the parent, about that of a trained policy in the paper. */
const parent = 0.35
/** How much the question decides the reward, as in the simulation of pruning. */
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

const { samples } = Presets.robust.verification
const arms = Presets.robust.proposer.candidates + 1

const rerun = (
  name: string,
  tests: Partial<Verification.Options> = {},
  of = { questions: samples, groupSize: 1 }
): Rule => ({
  name,
  strategy: Verification.rerunParent({ rounds: 1, fill: false, ...tests }),
  ...of
})

const rules: ReadonlyArray<Rule> = [
  rerun(`all ${samples} questions`),
  ...[0.05, 0.01].map((stop) => rerun(`early stops, risk ${stop}`, { stop })),
  rerun("early stops, risk 0.05, race", { stop: 0.05, race: true }),
  rerun(
    "the groups of one reused step",
    {},
    {
      questions: Math.floor(Presets.robust.train.batchSize / arms),
      groupSize: Presets.robust.rollout.groupSize
    }
  )
]

/** One round of verification under a rule. */
const simulate = ({ groupSize, questions, strategy }: Rule, { differences, places }: World, seed: number) =>
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
    seed
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
  const share = <A>(all: ReadonlyArray<A>, holds: (one: A) => boolean) =>
    all.length === 0 ? null : proportion(all.filter(holds).length, all.length)
  return {
    rule,
    rollouts: estimate(outcomes.map(({ rollouts }) => rollouts)),
    saved: 1 - meanRollouts(outcomes) / full,
    wrong: share(different, ([difference, accepted]) => accepted !== difference > 0),
    clonesAccepted: share(clones, ([, accepted]) => accepted)
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

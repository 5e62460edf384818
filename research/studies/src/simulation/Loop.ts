/** Simulates a rule on a fixed population. Only the rollouts are simulated. */
import { Array as Arr, Option } from "effect"
import { type Instruction, Invariant, RandomStream } from "@inspo/domain"
import { Population } from "@inspo/population"
import type { Budget, Rule } from "./Rules.ts"
import * as World from "./World.ts"

export interface Outcome {
  /** Whether another instruction than the best is returned. */
  readonly lost: boolean
  /** Whether another instruction than the best would be returned, after each step. */
  readonly lostAfter: ReadonlyArray<boolean>
  /** Whether a pruning removed the best. */
  readonly removed: boolean
  /** How much worse than the best the instructions of all rollouts were on average. */
  readonly regret: number
  /** The instructions left at the end. */
  readonly left: number
  /** The step after which one instruction was left; null if more are. */
  readonly decidedAt: number | null
  /** Whether P(best) of a member is at least 0.9 at the end, and if so, whether it is the best. */
  readonly sure: boolean | null
}

/**
 * Simulates a population until the steps are over, or one instruction is left. The values are assigned to the instructions at
 * random. Equal arguments give equal outcomes.
 */
export const simulate = (world: World.World, rule: Rule, budget: Budget, seed: number): Outcome => {
  const values = valuesAt(world, seed)
  const instructions = values.map((_, place) => World.instruction(place))
  const valueOf = valuesOf(instructions, values)
  const highest = Math.max(...values)
  const best = Invariant.at(instructions, values.indexOf(highest), "instruction").id
  const rollOut = World.open(world, seed)
  let population = Population.begin(instructions)
  let rollouts = 0
  let regret = 0
  let decidedAt: number | null = null
  const lostAfter: Array<boolean> = []
  const isLost = () => !Option.exists(rule.valuation.best(population), ({ instruction }) => instruction.id === best)
  for (let step = 1; step <= budget.steps && decidedAt === null; step++) {
    const before = rule.valuation.values(population)
    const draws = assign(rule, budget, before, { seed, step })
    for (const id of draws.flat()) {
      rollouts += 1
      regret += highest - valueOf(id)
    }
    const groups = rollOut({ step, draws, samples: rule.samples(budget), valueOf })
    population = Population.observe(rule.averaging, population, step, groups)
    if (step % rule.pruneEvery === 0) {
      const ranked = rule.ranking === "before" ? before : rule.valuation.values(population)
      population = Population.remove(
        population,
        rule.removal.prune(population, ranked).pruned.map(({ id }) => id)
      )
    }
    lostAfter.push(isLost())
    if (population.members.length === 1) decidedAt = step
  }
  const ids = Population.ids(population)
  const certain = population.comparison.chances.findIndex((chance) => chance >= 0.9)
  return {
    lost: isLost(),
    lostAfter: Arr.makeBy(budget.steps, (index) => lostAfter[index] ?? isLost()),
    removed: !ids.includes(best),
    regret: regret / rollouts,
    left: ids.length,
    decidedAt,
    sure: certain < 0 ? null : ids[certain] === best
  }
}

/** The values of the instructions in a simulation, in their order. */
export const valuesAt = ({ values }: World.World, seed: number): ReadonlyArray<number> =>
  RandomStream.make(seed, ["values"]).shuffle(values)

/** The draws of a step. */
export const assign = (
  { questions, sampler }: Rule,
  budget: Budget,
  values: ReadonlyArray<Population.Value>,
  at: { readonly seed: number; readonly step: number }
): ReadonlyArray<ReadonlyArray<Instruction.InstructionId>> =>
  sampler.assign({
    ...at,
    values,
    questions: Arr.makeBy(questions(budget), (place) => ({ id: World.questionId(place), dataSource: "world" }))
  })

const valuesOf = (
  instructions: ReadonlyArray<{ readonly id: Instruction.InstructionId }>,
  values: ReadonlyArray<number>
) => {
  const known = new Map(instructions.map(({ id }, place) => [id, Invariant.at(values, place, "value")]))
  return (id: Instruction.InstructionId) => Invariant.get(known, id, "value")
}

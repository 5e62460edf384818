/** The bias of estimates while the policy learns, between equal instructions of which some enter late. */
import { Array as Arr } from "effect"
import { Population } from "@inspo/population"
import { mean } from "simple-statistics"
import { assign } from "./Loop.ts"
import type { Budget, Rule } from "./Rules.ts"
import * as World from "./World.ts"

const old = 4
const late = 3
/** The step after which they enter. */
const entry = 30
/** The steps after that at which the estimates are compared. */
export const looks = [1, 2, 3, 5, 10, 20]

/**
 * How much higher the estimates of newcomers are than those of the members that were there before, at each of the looks. All are
 * equal, and improve by 0.5 points a step.
 */
export const bias = (rule: Rule, budget: Budget, seed: number): ReadonlyArray<number> => {
  const world = World.make({ values: Arr.replicate(0.2, old + late), question: 0.25, interaction: 0.05, drift: 0.005 })
  const rollOut = World.open(world, seed)
  let population = Population.begin(Arr.makeBy(old, World.instruction))
  const biases: Array<number> = []
  for (let step = 1; step <= entry + Math.max(...looks); step++) {
    const draws = assign(rule, budget, rule.valuation.values(population), { seed, step })
    const answers = rollOut({ step, draws, samples: rule.samples(budget), valueOf: () => 0.2 })
    population = Population.observe(rule.averaging, population, step, answers)
    if (step === entry)
      population = Population.add(
        population,
        Arr.makeBy(late, (place) => ({ instruction: World.instruction(old + place), verification: null }))
      )
    if (!looks.includes(step - entry)) continue
    const values = rule.valuation.values(population).map(({ value }) => value)
    biases.push(mean(values.slice(old)) - mean(values.slice(0, old)))
  }
  return biases
}

/**
 * Simulates a pruning rule on one population with constant true rewards. Selection, attribution and pruning are the modules of
 * a run; only the rollouts are simulated. There is no evolution, so that only pruning can lose the best instruction.
 */
import { Array as Arr, Option } from "effect"
import { QuestionId } from "@inspo/domain/Question"
import { InstructionValue, Population } from "@inspo/population"
import type { Sampler } from "@inspo/sampler"
import type { SuccessiveHalving } from "@inspo/successive-halving"
import * as World from "./World.ts"

/** How the loop treats its population, and for how long. */
export interface Loop {
  readonly valuation: InstructionValue.Strategy
  /** What the values rest on. */
  readonly averaging: InstructionValue.Averaging
  readonly sampler: Sampler.Strategy
  readonly halving: SuccessiveHalving.Strategy
  /** Prune by the values before the step's rewards, or after them. */
  readonly ranking: "before" | "after"
  /** Questions per step, each rolled out under one instruction. */
  readonly batchSize: number
  /** K_p: prune every so many steps. */
  readonly pruneEvery: number
  /** Steps after which the simulation ends even if several instructions are left. */
  readonly steps: number
}

/** When the best instruction was lost, and when one instruction was left. */
export interface Outcome {
  /** The step at which the best instruction was pruned, or null. */
  readonly lostAt: number | null
  /** The step at which one instruction was left, or null. */
  readonly decidedAt: number | null
  /** Instructions left at the end. */
  readonly left: number
  /** Whether I* is the best instruction at the end. */
  readonly found: boolean
}

/** Simulates one population until one instruction is left or the steps are over. Equal arguments give equal outcomes. */
export const simulate = (world: World.World, loop: Loop, seed: number): Outcome => {
  const best = World.best(world)
  const questions = Arr.makeBy(loop.batchSize, (index) => ({ id: QuestionId.make(`q${index}`), dataSource: "world" }))
  let population = Population.make(World.instructions(world))
  let lostAt: number | null = null
  let decidedAt: number | null = null
  for (let step = 1; step <= loop.steps && decidedAt === null; step++) {
    const before = loop.valuation.values(population)
    const assignment = loop.sampler.assign({
      seed,
      step,
      values: before,
      questions,
      newcomers: step === 1 ? Population.ids(population) : []
    })
    population = InstructionValue.observe(
      loop.averaging,
      population,
      step,
      World.rollOut(world, assignment, { seed, step })
    )
    if (step % loop.pruneEvery !== 0) continue
    const values = loop.ranking === "before" ? before : loop.valuation.values(population)
    const pruned = loop.halving.prune(population, values).pruned.map(({ id }) => id)
    population = Population.remove(population, pruned)
    if (pruned.includes(best)) lostAt = step
    if (population.members.length === 1) decidedAt = step
  }
  return {
    lostAt,
    decidedAt,
    left: population.members.length,
    found: Option.exists(loop.valuation.best(population), ({ instruction }) => instruction.id === best)
  }
}

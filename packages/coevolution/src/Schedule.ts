/** Which steps of a run prune, evolve and validate. */
import { Schedule as EvolutionSchedule } from "@inspo/evolution"
import { Array as Arr } from "effect"
import type { Algorithm } from "./Algorithm.ts"

/** Whether an evolution begins after this step; untried candidates do not join after the last one. */
export const evolves = (algorithm: Algorithm, step: number): boolean =>
  evolvesAt(algorithm, step) && !(algorithm.verification.samples === 0 && step >= algorithm.schedule.steps)

const evolvesAt = (algorithm: Algorithm, step: number): boolean =>
  EvolutionSchedule.ofSettings(algorithm).evolves(step) &&
  mayEvolve(algorithm, step) &&
  algorithm.population.size > algorithm.population.parents

/** Whether an evolution begins after this step if nothing was rewarded; verification would take rollouts for each. */
export const searches = (algorithm: Algorithm, step: number): boolean =>
  divides(algorithm.schedule.searchEvery, step) &&
  algorithm.verification.samples === 0 &&
  step < algorithm.schedule.steps &&
  mayEvolve(algorithm, step)

/** While the policy trains alone, nothing evolves. */
const mayEvolve = (algorithm: Algorithm, step: number): boolean => step >= (algorithm.control.policyFirst ?? 1)

/** The steps after which evolution decides. */
export const ofEvolution = (algorithm: Algorithm): EvolutionSchedule.Schedule => ({
  ...EvolutionSchedule.ofSettings(algorithm),
  resetsWindows: algorithm.selection.average !== "questions",
  evolves: (step) => evolves(algorithm, step),
  searches: (step) => searches(algorithm, step)
})

/** The steps of a run after which an evolution begins. */
export const evolutions = (algorithm: Algorithm): ReadonlyArray<number> =>
  Arr.range(1, algorithm.schedule.steps).filter((step) => evolves(algorithm, step))

/** The further steps of a run after which an evolution begins if nothing is ever rewarded. */
export const searchSteps = (algorithm: Algorithm): ReadonlyArray<number> => {
  const [first = Infinity] = evolutions(algorithm)
  return Arr.range(1, algorithm.schedule.steps).filter(
    (step) => step > first && searches(algorithm, step) && !evolves(algorithm, step)
  )
}

/** Whether the policy after this step answers the validation questions; always after the last step of a run with validations. */
export const validates = ({ evaluation, schedule }: Algorithm, step: number): boolean =>
  divides(evaluation.every, step) || (evaluation.every > 0 && step >= schedule.steps)

/** The steps of a run after which the validation questions are answered. */
export const validations = (algorithm: Algorithm): ReadonlyArray<number> =>
  Arr.range(1, algorithm.schedule.steps).filter((step) => validates(algorithm, step))

/** Most validation questions that are asked. */
export const validationQuestions = 100

/** Whether the policy after this step is saved: as configured, at the end, and after each validation. */
export const checkpoints = (algorithm: Algorithm, step: number): boolean =>
  divides(algorithm.checkpoint.every, step) || step >= algorithm.schedule.steps || validates(algorithm, step)

/** The first and the last step that update the policy; null when none does. */
export const trained = ({ control, schedule, train }: Algorithm): readonly [first: number, last: number] | null =>
  train.fromStep === null ? null : [train.fromStep, Math.min(control.policyFirst ?? schedule.steps, schedule.steps)]

/** Whether the policy is updated at a step. */
export const trains = (algorithm: Algorithm, step: number): boolean => {
  const span = trained(algorithm)
  return span !== null && step >= span[0] && step <= span[1]
}

const { divides } = EvolutionSchedule

/** Which steps of a run prune, evolve and validate. */
import { Array as Arr } from "effect"
import type { RunConfig } from "./Config.ts"

/** Whether the population is pruned after this step, where it is larger than the parents. */
export const prunes = ({ schedule }: RunConfig, step: number): boolean => divides(schedule.pruneEvery, step)

/** Whether candidates are tried in the groups of later steps. */
export const reuses = ({ verification }: RunConfig): boolean => verification.reuse && verification.samples > 0

/** Whether an evolution begins after this step; one whose candidates need a later step does not begin after the last. */
export const evolves = (config: RunConfig, step: number): boolean =>
  evolvesAt(config, step) && !(reuses(config) && step >= config.schedule.steps)

const evolvesAt = ({ population, schedule }: RunConfig, step: number): boolean =>
  divides(schedule.evolveEvery, step) &&
  step >= (schedule.policyFirst ?? 1) &&
  step <= schedule.evolveUntil &&
  population.size > population.parents

/** The steps of a whole run after which an evolution begins. */
export const evolutions = (config: RunConfig): ReadonlyArray<number> =>
  Arr.range(1, config.schedule.steps).filter((step) => evolves(config, step))

/** Whether the policy after this step answers the validation questions; the last one does where any does. */
export const validates = ({ evaluation, schedule }: RunConfig, step: number): boolean =>
  divides(evaluation.every, step) || (evaluation.every > 0 && step >= schedule.steps)

/** The steps of a whole run after which the validation questions are answered. */
export const validations = (config: RunConfig): ReadonlyArray<number> =>
  Arr.range(1, config.schedule.steps).filter((step) => validates(config, step))

/** The validation questions that are asked, where there are so many. */
export const validationQuestions = 100

/** Whether the policy after this step is saved: as asked for, at the end, and whenever it was validated. */
export const checkpoints = (config: RunConfig, step: number): boolean =>
  divides(config.checkpoint.every, step) || step >= config.schedule.steps || validates(config, step)

/** The first and the last step that update the policy; null when none does. */
export const trained = ({ schedule, train }: RunConfig): readonly [first: number, last: number] | null =>
  train.fromStep === null ? null : [train.fromStep, Math.min(schedule.policyFirst ?? schedule.steps, schedule.steps)]

/** Whether the policy is updated at a step. */
export const trains = (config: RunConfig, step: number): boolean => {
  const span = trained(config)
  return span !== null && step >= span[0] && step <= span[1]
}

const divides = (period: number, step: number): boolean => period > 0 && step % period === 0

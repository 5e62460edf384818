import { Schema } from "effect"

/** What follows the linear warm-up: half a cosine down towards 0, or the peak for good. */
export const Schedule = Schema.Literals(["cosine", "constant"])
export type Schedule = typeof Schedule.Type

/** The part of a training configuration that the learning rate depends on. `warmupRatio` is a share of all steps. */
export interface Options {
  readonly learningRate: number
  readonly schedule: Schedule
  readonly warmupRatio: number
}

/**
 * The learning rate of `step` out of `totalSteps`, counted from 1. It lies in (0, `learningRate`], rises in equal parts
 * over the first `round(warmupRatio × totalSteps)` steps and reaches the peak at the last of them. All updates of a step
 * share it. Steps beyond the last keep its rate.
 *
 * @example
 * ```ts
 * import { LearningRate } from "@inspo/policy-gradient"
 *
 * const options = { learningRate: 1e-6, schedule: "cosine", warmupRatio: 0.1 } as const
 * LearningRate.at(options, 15, 300) // 5e-7: half of the warm-up
 * ```
 */
export const at = (options: Options, step: number, totalSteps: number): number => {
  const current = Math.min(Math.max(step, 1), totalSteps)
  const warmup = Math.round(options.warmupRatio * totalSteps)
  if (current <= warmup) return (options.learningRate * current) / warmup
  if (options.schedule === "constant") return options.learningRate
  // One more than the steps left, so that the last step still learns.
  const progress = (current - warmup) / (totalSteps - warmup + 1)
  return (options.learningRate * (1 + Math.cos(Math.PI * progress))) / 2
}

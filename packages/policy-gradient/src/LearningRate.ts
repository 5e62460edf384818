import type { OptimizerConfig, TrainConfig } from "./TrainConfig.ts"

/**
 * The learning rate of `step` out of `totalSteps`, counted from 1. It is in (0, `learningRate`], rises in equal parts over the
 * first `round(warmup × totalSteps)` steps, reaches the peak at the last of them, and falls towards 0 as `decay` defines. All
 * updates of a step share it. Steps after the last keep its rate.
 *
 * @example
 * ```ts
 * import { LearningRate } from "@inspo/policy-gradient"
 *
 * LearningRate.at({ learningRate: 1e-6, warmup: 0.1, decay: "cosine" }, 15, 300) // 5e-7: half of the warm-up
 * ```
 */
export const at = (
  { decay, learningRate, warmup: share }: Pick<OptimizerConfig, "decay" | "warmup"> & Pick<TrainConfig, "learningRate">,
  step: number,
  totalSteps: number
): number => {
  const current = Math.min(Math.max(step, 1), totalSteps)
  const warmup = Math.round(share * totalSteps)
  // The last step of the warm-up has the peak itself, without a rounding error.
  if (current < warmup) return (learningRate * current) / warmup
  // One more than the steps left, so that the last step has a rate above 0.
  const progress = (current - warmup) / (totalSteps - warmup + 1)
  switch (decay) {
    case "cosine":
      return (learningRate * (1 + Math.cos(Math.PI * progress))) / 2
    case "linear":
      return learningRate * (1 - progress)
    case "constant":
      return learningRate
  }
}

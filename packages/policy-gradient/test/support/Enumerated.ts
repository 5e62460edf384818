/** A policy of three actions, whose mean gradients are sums over all samples of a group. */
import { sum } from "./Batches.ts"

const logits = [0.3, -0.4, 0.9]
const scale = sum(logits.map(Math.exp))
const policy = logits.map((logit) => Math.exp(logit) / scale)

/** The rewards of the actions: one of them succeeds. */
const rewards = [1, 0, 0]

/** The probability of a success. */
export const success = policy[0] ?? Number.NaN

/** The gradient of the probability of a success, by the logits. */
export const successGradient = policy.map((p, index) => success * ((index === 0 ? 1 : 0) - p))

/** The mean over all groups of `size` samples of the mean of advantage · ∇log π. */
export const meanGradient = (
  size: number,
  advantages: (rewards: ReadonlyArray<number>) => ReadonlyArray<number>
): ReadonlyArray<number> => {
  const total = policy.map(() => 0)
  for (const actions of samples(size)) {
    const probability = actions.reduce((product, action) => product * (policy[action] ?? 0), 1)
    const values = advantages(actions.map((action) => rewards[action] ?? 0))
    actions.forEach((action, member) =>
      policy.forEach((p, index) => {
        const slope = (index === action ? 1 : 0) - p
        total[index] = (total[index] ?? 0) + (probability * (values[member] ?? 0) * slope) / size
      })
    )
  }
  return total
}

const samples = (size: number): ReadonlyArray<ReadonlyArray<number>> =>
  size === 0 ? [[]] : samples(size - 1).flatMap((head) => policy.map((_, action) => [...head, action]))

import { InvalidInput } from "@inspo/domain"
import { Schema } from "effect"
import { sumAll } from "effect/Number"

/**
 * How rewards of a group become advantages: `standardised` divides the centred reward by the standard deviation
 * (Eq. 3 of the INSPO paper, as in GRPO), `centred` does not (as in Dr. GRPO). `reward` is the reward itself: at
 * ratio 1 the gradient is that of the log-likelihood of what was rewarded, as rejection sampling and supervised
 * fine-tuning have it.
 */
export const Advantage = Schema.Literals(["standardised", "centred", "reward"])
export type Advantage = typeof Advantage.Type

/** What Eq. 3 adds to the standard deviation. */
export const epsilon = 1e-6

/**
 * The advantage of each trajectory of one group, in order. Except with `reward`, they sum to 0, and a
 * group of one or with equal rewards gets zeros. Throws `InvalidInput` on a reward that is not finite.
 *
 * @example
 * ```ts
 * import { Advantage } from "@inspo/policy-gradient"
 *
 * Advantage.advantages([1, 0, 0, 0, 0], "centred") // [0.8, -0.2, -0.2, -0.2, -0.2]
 * ```
 */
export const advantages = (rewards: ReadonlyArray<number>, kind: Advantage): ReadonlyArray<number> => {
  for (const [index, value] of rewards.entries())
    if (!Number.isFinite(value))
      InvalidInput.refuse({ where: "Advantage", field: `rewards[${index}]`, value, expected: "a finite number" })
  if (kind === "reward") return rewards
  // Rounding makes the mean of equal numbers differ from them, and a tiny deviation would magnify that.
  if (rewards.every((reward) => reward === rewards[0])) return rewards.map(() => 0)
  const mean = sumAll(rewards) / rewards.length
  const centred = rewards.map((reward) => reward - mean)
  if (kind === "centred") return centred
  const deviation = Math.sqrt(sumAll(centred.map((value) => value * value)) / (rewards.length - 1))
  return centred.map((value) => value / (deviation + epsilon))
}

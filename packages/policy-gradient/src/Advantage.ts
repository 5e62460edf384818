/** The registry of advantages: a new one is a file in `advantages`, and a line here. */
import { InvalidInput } from "@inspo/domain"
import { Schema } from "effect"
import { centred } from "./advantages/Centred.ts"
import { plain } from "./advantages/Plain.ts"
import { standardised } from "./advantages/Standardised.ts"
import type { Estimator } from "./Estimator.ts"

/** The estimators that a config can name. */
export const estimators = [standardised, centred, plain] as const

/** How rewards of a group become advantages. */
export const Advantage = Schema.Literals(estimators.map(({ name }) => name))
export type Advantage = typeof Advantage.Type

/** The estimator of a config. */
export const named = (kind: Advantage): Estimator => estimators.find(({ name }) => name === kind) ?? standardised

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
  return named(kind).ofGroup(rewards)
}

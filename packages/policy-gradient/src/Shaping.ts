/** Advantages that follow a second criterion without a change of what they praise. */
import { Moments } from "@inspo/statistics"

/**
 * Advantages, each with its change limited to `bound` times its size. Below a bound of 1 no advantage changes its sign, so that
 * a second criterion, such as length or cost, never makes a success worse than a failure.
 */
export const boundedShaping = (
  advantages: ReadonlyArray<number>,
  changes: ReadonlyArray<number>,
  bound: number
): ReadonlyArray<number> =>
  advantages.map((advantage, index) => {
    const most = bound * Math.abs(advantage)
    return advantage + Moments.clamp(changes[index] ?? 0, -most, most)
  })

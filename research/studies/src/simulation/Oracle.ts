import { RandomStream } from "@inspo/domain"
import { sum } from "simple-statistics"
import { draw } from "./Normal.ts"
import type { World } from "./World.ts"

/**
 * How many of `simulations` return another instruction than the best, if so many rollouts are allocated by the values (Chen et
 * al. 2000, "Simulation budget allocation for further enhancing the efficiency of ordinal optimization"), each on a question
 * that is shared with all others.
 */
export const lost = (
  { interaction, question, values }: World,
  rollouts: number,
  simulations: number,
  seed: number
): number => {
  const best = values.indexOf(Math.max(...values))
  const highest = Math.max(...values)
  const variances = values.map((value) => value * (1 - value) * (1 - question))
  const others = values.map((value, place) => (place === best ? 0 : (variances[place] ?? 0) / (highest - value) ** 2))
  const own = Math.sqrt((variances[best] ?? 0) * sum(others.map((part, place) => part ** 2 / (variances[place] ?? 1))))
  const parts = others.map((part, place) => (place === best ? own : part))
  const deviations = parts.map((part, place) => Math.sqrt(((variances[place] ?? 0) * sum(parts)) / (part * rollouts)))
  const stream = RandomStream.make(seed, ["oracle", interaction, rollouts])
  let count = 0
  for (let simulation = 0; simulation < simulations; simulation++) {
    const means = values.map((value, place) => value + (deviations[place] ?? 0) * draw(stream))
    if (means.indexOf(Math.max(...means)) !== best) count += 1
  }
  return count
}

/**
 * The choice among versions of ReSkill (2606.01619): the rewards of a version count less the older they are, as a Beta posterior,
 * and shares follow the probability of being the best.
 */
import { Order, Array as Arr, Option } from "effect"
import type { Population } from "@inspo/population"

/** How much a reward counts after another step. */
const discount = 0.9

/** The chances by the windows of the members, which must contain the steps that still count. */
export const strategy: Omit<Population.Interface, "observe"> = {
  identity: { name: "discounted-thompson", parameters: { discount } },
  values: (population) => {
    const posteriors = population.members.map((member) => posteriorOf(member, population.step))
    const chances = chancesOf(posteriors)
    return population.members.map(({ instruction: { id } }, place) => ({
      id,
      value: posteriors[place]?.mean ?? 0,
      chance: chances[place] ?? 0
    }))
  },
  best: (population) =>
    Option.map(
      Arr.head(
        Arr.sort(
          population.members.map((member) => ({ member, mean: posteriorOf(member, population.step).mean })),
          Order.flip(Order.mapInput(Order.Number, ({ mean }: { readonly mean: number }) => mean))
        )
      ),
      ({ member }) => member
    )
}

interface Posterior {
  readonly mean: number
  /** The density on {@link grid}, as shares of 1. */
  readonly density: ReadonlyArray<number>
}

const grid = Arr.makeBy(200, (place) => (place + 0.5) / 200)

const posteriorOf = ({ window }: Population.Member, now: number): Posterior => {
  let [good, bad] = [1, 1]
  for (const { mean, step, trajectories } of window) {
    const weight = trajectories * discount ** (now - step)
    good += weight * mean
    bad += weight * (1 - mean)
  }
  const logs = grid.map((at) => (good - 1) * Math.log(at) + (bad - 1) * Math.log(1 - at))
  const highest = Math.max(...logs)
  const weights = logs.map((log) => Math.exp(log - highest))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return { mean: good / (good + bad), density: weights.map((weight) => weight / total) }
}

/** The probability of each that it is the highest of all. */
const chancesOf = (posteriors: ReadonlyArray<Posterior>): ReadonlyArray<number> => {
  const below = posteriors.map(({ density }) => {
    let sum = 0
    return density.map((weight) => (sum += weight) - weight / 2)
  })
  return posteriors.map(({ density }, own) =>
    density.reduce(
      (sum, weight, at) =>
        sum +
        weight * below.reduce((product, other, place) => (place === own ? product : product * (other[at] ?? 0)), 1),
      0
    )
  )
}

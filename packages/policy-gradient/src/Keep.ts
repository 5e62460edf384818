/** Which rollouts of a step are trained. */
import { Method } from "@inspo/domain"

/** What a choice reads of a rollout. */
export interface Candidate {
  readonly reward: number
  readonly advantage: number
  /** Whether it was cut off at its limit. */
  readonly truncated: boolean
}

/** A choice of rollouts: which members of a step's groups are trained. The others send no datum and do not count in the shares. */
export const keep = Method.rules<ReadonlyArray<ReadonlyArray<Candidate>>, ReadonlyArray<ReadonlyArray<boolean>>>()

/** What keeps or drops whole groups. */
export const wholeGroups =
  <C>(keeps: (rewards: ReadonlyArray<number>, constants: C) => boolean) =>
  (groups: ReadonlyArray<ReadonlyArray<Candidate>>, constants: C): ReadonlyArray<ReadonlyArray<boolean>> =>
    groups.map((group) => {
      const kept = keeps(
        group.map(({ reward }) => reward),
        constants
      )
      return group.map(() => kept)
    })

/** The places of `count` values of the largest variance, in order: the smallest of some values and the largest of the others. */
export const mostVaried = (values: ReadonlyArray<number>, count: number): ReadonlyArray<number> => {
  const order = values.map((_, index) => index).toSorted((a, b) => (values[a] ?? 0) - (values[b] ?? 0) || a - b)
  const most = Math.min(count, order.length)
  const middle = values.reduce((sum, value) => sum + value, 0) / values.length
  const scale = ((values[order.at(-1) ?? 0] ?? 0) - (values[order[0] ?? 0] ?? 0)) ** 2
  let [sum, squares] = [0, 0]
  const move = (index: number | undefined, sign: 1 | -1) => {
    const value = index === undefined ? 0 : (values[index] ?? 0) - middle
    sum += sign * value
    squares += sign * value * value
  }
  for (const index of order.slice(order.length - most)) move(index, 1)
  let [best, largest] = [0, squares - (sum * sum) / most]
  for (let low = 1; low <= most; low++) {
    move(order[low - 1], 1)
    move(order[order.length - most + low - 1], -1)
    const spread = squares - (sum * sum) / most
    // A rounding error is no larger spread.
    if (spread > largest + 1e-12 * scale) [best, largest] = [low, spread]
  }
  return [...order.slice(0, best), ...order.slice(order.length - (most - best))].toSorted((a, b) => a - b)
}

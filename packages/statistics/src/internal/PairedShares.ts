/** The mean of differences that are -1, 0 or 1: bounds that are exact for any number of them, whatever the share of equal pairs. Pure. */
import { Array as Arr, Order } from "effect"

/** So many pairs, of which some are gains (1), some losses (-1), and the others equal (0). */
export interface Pairs {
  readonly all: number
  readonly gains: number
  readonly losses: number
}

/**
 * A lower bound of the mean, which is above it with a probability of at most `risk`. Outcomes are ordered by the lower limit of the score
 * interval (Tango, 1998) at `errors` standard errors. The bound is the largest mean under which none as high as this has a probability
 * above `risk` (Buehler, 1957), for any share of equal pairs.
 */
export const lowerBound = (pairs: Pairs, risk: number, errors: number): number => {
  const { all, gains, losses } = pairs
  const mean = (gains - losses) / all
  const limit = largest(-1, mean, (one) => score(pairs, one) > errors)
  if (limit === -1) return -1
  const chanceOf = chances(leastGains(all, limit, errors))
  // The most demanding shares come first, so that the others hardly ever lower the bound.
  const shares = Arr.sortWith(shareRange, (share) => -chanceOf(limit, share), Order.Number)
  return shares.reduce(
    (bound, share) =>
      chanceOf(bound, share) <= risk ? bound : largest(-1, bound, (one) => chanceOf(one, share) <= risk),
    mean
  )
}

/** The largest number between two of which something is so that is so of all below it; the lower one if of none. */
const largest = (low: number, high: number, isSo: (one: number) => boolean): number => {
  let [yes, no] = [low, high]
  for (let halving = 0; halving < 24; halving++) {
    const middle = (yes + no) / 2
    if (isSo(middle)) yes = middle
    else no = middle
  }
  return yes
}

/** How many standard errors the mean is above another, with the variance that is most likely under that one (Tango, 1998). */
const score = ({ all, gains, losses }: Pairs, mean: number): number => {
  const linear = (2 * all - gains + losses) * mean - gains - losses
  const root = Math.sqrt(Math.max(0, linear ** 2 + 8 * all * losses * mean * (1 - mean)))
  const variance = all * ((root - linear) / (2 * all) + mean * (1 - mean))
  const above = gains - losses - all * mean
  return variance <= 1e-14 ? (above > 1e-12 ? Infinity : 0) : above / Math.sqrt(variance)
}

/** By the number of unequal pairs, the fewest gains among them that score so high; one more than there are pairs for none. */
const leastGains = (all: number, mean: number, errors: number): ReadonlyArray<number> => {
  const least: Array<number> = []
  for (let unequal = 0, gains = 0; unequal <= all; unequal++) {
    // One more pair asks for at most one more gain.
    if (gains <= unequal && score({ all, gains, losses: unequal - gains }, mean) < errors) gains += 1
    least.push(gains)
  }
  return least
}

/** From the smallest to the largest share of unequal pairs under which a mean is possible; more near the ends, where chances change fastest. */
const shareRange = Array.from({ length: 37 }, (_, at) => Math.sin((Math.PI * at) / 72) ** 2)

/** The probability of so many gains under a mean, which grows with it, at a share in that range. */
const chances = (least: ReadonlyArray<number>) => {
  const all = least.length - 1
  const logs = logFactorials(all)
  return (mean: number, share: number): number => {
    const unequal = Math.abs(mean) + (1 - Math.abs(mean)) * share
    const gain = unequal === 0 ? 1 / 2 : (unequal + mean) / (2 * unequal)
    const [ofGains, ofUnequal] = [binomial(logs, gain), binomial(logs, unequal)]
    let [sum, tail, last] = [0, 1, 0]
    // The tail of a binomial distribution is carried from one number of unequal pairs to the next.
    for (const [trials, gains] of least.entries()) {
      if (trials > 0) tail += gain * ofGains(last - 1, trials - 1)
      if (gains > last) tail -= ofGains(last, trials)
      last = gains
      sum += ofUnequal(trials, all) * tail
    }
    return sum
  }
}

/** The probability of so many successes, with the logarithms of factorials. */
const binomial = (logs: ReadonlyArray<number>, share: number) => {
  const [yes, no] = [Math.log(share), Math.log1p(-share)]
  const times = (count: number, log: number) => (count === 0 ? 0 : count * log)
  return (successes: number, trials: number): number => {
    const failures = trials - successes
    if (successes < 0 || failures < 0) return 0
    const ways = (logs[trials] ?? 0) - (logs[successes] ?? 0) - (logs[failures] ?? 0)
    return Math.exp(ways + times(successes, yes) + times(failures, no))
  }
}

const logFactorials = (most: number): ReadonlyArray<number> => {
  const logs = [0]
  for (let number = 1; number <= most; number++) logs.push((logs[number - 1] ?? 0) + Math.log(number))
  return logs
}

/** Pairs of simulated agents with a known mean difference in score: how a candidate differs from its control on one case. */
import type { RandomStream } from "@inspo/domain"

export interface Pair {
  readonly name: string
  /** The difference on the nth case, 0 on average. */
  readonly draw: (stream: RandomStream.RandomStream, nth: number) => number
}

const coin = (stream: RandomStream.RandomStream, chance: number): number => (stream.next() < chance ? 1 : 0)

const answers = (stream: RandomStream.RandomStream, chance: number): number =>
  coin(stream, chance) - coin(stream, chance)

export const pairs: ReadonlyArray<Pair> = [
  { name: "A/A", draw: (stream) => answers(stream, 0.6) },
  { name: "rare success", draw: (stream) => answers(stream, 0.02) },
  { name: "deterministic", draw: () => 0 },
  { name: "ties", draw: (stream) => (coin(stream, 0.1) === 0 ? 0 : 2 * coin(stream, 0.5) - 1) },
  // Three answers of each to a case, which is easy or hard for both.
  {
    name: "clusters",
    draw: (stream) => {
      const chance = coin(stream, 0.5) === 0 ? 0.15 : 0.85
      return (answers(stream, chance) + answers(stream, chance) + answers(stream, chance)) / 3
    }
  },
  { name: "drift", draw: (stream, nth) => answers(stream, nth < 40 ? 0.9 : nth < 120 ? 0.5 : 0.1) },
  // Small gains on most cases, and a large loss on a few.
  { name: "heavy tails", draw: (stream) => (coin(stream, 0.1) === 0 ? 0.1 : -0.9) },
  // A judge that prefers the longer answer, whichever it is.
  {
    name: "biased judge",
    draw: (stream) => 0.2 * (2 * coin(stream, 0.5) - 1) + Math.round(4 * (stream.next() - stream.next())) / 10
  }
]

/** The same with a mean difference: on that share of the cases the candidate alone fails, or the control alone. */
export const shifted = ({ draw }: Pair, difference: number): Pair["draw"] => {
  const share = Math.abs(difference)
  return (stream, nth) =>
    // What is drawn instead keeps the mean of all others at 0.
    stream.next() < share ? Math.sign(difference) : draw(stream, nth)
}

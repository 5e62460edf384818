/** Weights of tokens where the trainer's probabilities differ from those of the sampler. */
import { sumAll } from "effect/Number"
import { Method } from "@inspo/domain"

/** The action tokens of a rollout by two programs with the same weights, or by one that sampled with older weights. */
export interface Sampled {
  /** Their log-probabilities by the trainer, before the update. */
  readonly trainer: ReadonlyArray<number>
  /** Their log-probabilities by the sampler. */
  readonly sampler: ReadonlyArray<number>
  /** The mean of their advantages. */
  readonly advantage: number
}

/** A correction: the factor of each token's advantage. A token of factor 0 still counts in the shares of the others. */
export const correction = Method.rules<Sampled, ReadonlyArray<number>>()

/** What treats each token by its own ratio. */
export const byToken =
  <C>(factor: (ratio: number, constants: C) => number) =>
  (sampled: Sampled, constants: C): ReadonlyArray<number> =>
    logsOf(sampled).map((log) => factor(Math.exp(log), constants))

/** What gives all tokens the factor of the product of their ratios. */
export const bySequence =
  <C>(factor: (ratio: number, constants: C) => number) =>
  (sampled: Sampled, constants: C): ReadonlyArray<number> => {
    const one = factor(Math.exp(sumAll(logsOf(sampled))), constants)
    return sampled.trainer.map(() => one)
  }

/** The logarithm of the trainer's probability divided by the sampler's, of each token. */
export const logsOf = ({ sampler, trainer }: Sampled): ReadonlyArray<number> =>
  trainer.map((logprob, index) => logprob - (sampler[index] ?? Number.NaN))

/** A ratio within bounds, else 0. */
export const within = (ratio: number, { high, low }: { readonly low: number; readonly high: number }): number =>
  ratio >= low && ratio <= high ? ratio : 0

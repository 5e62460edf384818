/** Losses as the coefficient of ∇log π, which every engine can train. */
import { sumAll } from "effect/Number"
import type { Method } from "@inspo/domain"

/** The action tokens of a rollout, in order. */
export interface Sequence {
  /** Their log-probabilities now. */
  readonly logprobs: ReadonlyArray<number>
  /** Their log-probabilities when they were sampled. */
  readonly old: ReadonlyArray<number>
  readonly advantages: ReadonlyArray<number>
  /** The turn of each token; without it all are of one. */
  readonly turns?: ReadonlyArray<number>
}

/** One action token. `ratio` is its probability now divided by that of its sampling. */
export interface Token {
  readonly logprob: number
  readonly old: number
  readonly ratio: number
  readonly advantage: number
}

/**
 * A loss. Its gradient is Σ share · g · ∇log π over the tokens, so a datum whose log-probabilities are those now, and whose
 * advantages are g, has the same gradient in the clipped surrogate, at ratio 1.
 */
export interface Surrogate<
  Name extends string = string,
  C extends Method.Constants = Method.Constants
> extends Method.Method<Name, C> {
  /** Whether it is the mean over whole sequences, which must then count alike. */
  readonly ofSequences?: boolean
  /** g of each token of a sequence. */
  weights(this: void, sequence: Sequence, constants?: Partial<C>): ReadonlyArray<number>
  /**
   * The mean over the tokens of what is maximised, of which `weights` / tokens is the gradient by `logprobs`. What takes no
   * gradient is read from `held`, by default the sequence itself.
   */
  objective(this: void, sequence: Sequence, constants?: Partial<C>, held?: Sequence): number
}

/** A loss from its description and its functions of all constants. */
export const surrogate = <const Name extends string, C extends Method.Constants>({
  gradient,
  written,
  ...method
}: Omit<Surrogate<Name, C>, "objective" | "weights"> & {
  readonly gradient: (sequence: Sequence, constants: C) => ReadonlyArray<number>
  readonly written: (sequence: Sequence, constants: C, held: Sequence) => number
}): Surrogate<Name, C> => ({
  ...method,
  weights: (sequence, constants) => gradient(sequence, { ...method.defaults, ...constants }),
  objective: (sequence, constants, held = sequence) => written(sequence, { ...method.defaults, ...constants }, held)
})

/** The weights of a loss that treats each token by itself. */
export const perToken =
  <C>(weight: (token: Token, constants: C) => number) =>
  (sequence: Sequence, constants: C): ReadonlyArray<number> =>
    tokensOf(sequence).map((token) => weight(token, constants))

/** The objective of such a loss. */
export const meanOfTokens =
  <C>(objective: (token: Token, constants: C, held: Token) => number) =>
  (sequence: Sequence, constants: C, held: Sequence): number => {
    const before = tokensOf(held)
    const values = tokensOf(sequence).map((token, index) => objective(token, constants, before[index] ?? token))
    return sumAll(values) / values.length
  }

/** A loss that weighs the advantage of each token by a factor, through which no gradient flows. */
export const weighing = <const Name extends string, C extends Method.Constants>({
  factor,
  ...method
}: Omit<Surrogate<Name, C>, "objective" | "weights"> & {
  readonly factor: (token: Token, constants: C) => number
}): Surrogate<Name, C> => {
  const gradient = perToken<C>((token, constants) => factor(token, constants) * token.advantage)
  const written = meanOfTokens<C>(
    ({ advantage, logprob }, constants, held) => factor(held, constants) * advantage * logprob
  )
  return surrogate<Name, C>({ ...method, gradient, written })
}

export const tokensOf = ({ advantages, logprobs, old }: Sequence): ReadonlyArray<Token> =>
  logprobs.map((logprob, index) => {
    const before = old[index] ?? Number.NaN
    return { logprob, old: before, ratio: Math.exp(logprob - before), advantage: advantages[index] ?? Number.NaN }
  })

/** The logarithm of the ratio of each token. */
export const logRatios = ({ logprobs, old }: Sequence): ReadonlyArray<number> =>
  logprobs.map((logprob, index) => logprob - (old[index] ?? Number.NaN))

/** What clipping leaves of a ratio's advantage, and its gradient by the logarithm of the ratio. */
export interface Bounds {
  /** How far a ratio may fall below 1 where the advantage is negative. */
  readonly low: number
  /** How far a ratio may rise above 1 where the advantage is positive. */
  readonly high: number
  /** The largest ratio where the advantage is negative. */
  readonly dual?: number
}

/** The coefficient of ∇log ratio in {@link clippedObjective}: 0 where it is clipped. */
export const clippedWeight = (ratio: number, advantage: number, { dual = Infinity, high, low }: Bounds): number => {
  const clipped = advantage > 0 ? ratio > 1 + high : ratio < 1 - low || ratio > dual
  return clipped ? 0 : ratio * advantage
}

/** The clipped surrogate of PPO. */
export const clippedObjective = (ratio: number, advantage: number, { dual = Infinity, high, low }: Bounds): number =>
  advantage > 0
    ? Math.min(ratio, 1 + high) * advantage
    : Math.min(Math.max(ratio, 1 - low), Math.max(dual, 1 - low)) * advantage

/** The registry of corrections: a new one is a file in `corrections`, and a line here. */
import { maskSequence, maskTokens } from "./corrections/Mask.ts"
import { rejectFailures, rejectSequence } from "./corrections/Reject.ts"
import { truncateSequence, truncateTokens } from "./corrections/Truncate.ts"
import { Moments } from "@inspo/statistics"

export type { Sampled } from "./Correction.ts"

/** Every correction. */
export const corrections = [
  truncateTokens,
  truncateSequence,
  maskTokens,
  maskSequence,
  rejectSequence,
  rejectFailures
] as const

/** Factors divided by their mean over all tokens of a batch, so that a correction does not change the learning rate. */
export const normalised = (factors: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<ReadonlyArray<number>> => {
  const middle = Moments.mean(factors.flat())
  return middle > 0 ? factors.map((ofRollout) => ofRollout.map((factor) => factor / middle)) : factors
}

/** The registry of corrections: a new one is a file in `corrections`, and a line here. */
import { Choice, type Method } from "@inspo/domain"
import { maskSequence, maskTokens } from "./corrections/Mask.ts"
import { none } from "./corrections/None.ts"
import { rejectFailures, rejectSequence } from "./corrections/Reject.ts"
import { truncateSequence, truncateTokens } from "./corrections/Truncate.ts"
import type { Sampled } from "./Correction.ts"

export type { Sampled } from "./Correction.ts"

/** Every correction, that of GRPO first. */
export const corrections = [
  none,
  truncateTokens,
  truncateSequence,
  maskTokens,
  maskSequence,
  rejectSequence,
  rejectFailures
] as const

/** How tokens are weighed where the trainer's probabilities differ from the sampler's. */
export const Correction = Choice.of(
  corrections,
  "How tokens are weighed where sampler and trainer find them differently probable, as with two programs or `train.staleness`; all but " +
    "`none` score a step once before its update. docs/reference/methods.md has all"
)
export type Correction = typeof Correction.Type

/** The correction of a config. */
export const named = ({ name: called }: Correction): Rule => corrections.find(({ name }) => name === called) ?? none

type Rule = Method.Rule<Sampled, ReadonlyArray<number>>

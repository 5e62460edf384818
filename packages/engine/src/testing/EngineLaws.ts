/** The laws of every engine. */
import { checkpointLaws } from "../internal/laws/CheckpointLaws.ts"
import type { EngineLaw } from "../internal/laws/Law.ts"
import { samplingLaws } from "../internal/laws/SamplingLaws.ts"
import { scoringLaws } from "../internal/laws/ScoringLaws.ts"
import { trainingLaws } from "../internal/laws/TrainingLaws.ts"

export type { EngineLaw } from "../internal/laws/Law.ts"

export interface Options {
  /** Largest difference between log-probabilities that should be equal; by default 1e-5. */
  readonly tolerance?: number
  /** Tokens sampled per sequence; by default 16. */
  readonly maxTokens?: number
  /** Learning rate of the training laws: large enough to see, small enough to be a first-order step; by default 1e-3. */
  readonly learningRate?: number
}

/**
 * The laws of `Engine`. Laws about equal samples are skipped for an engine whose profile is not `deterministic`, and laws
 * about training for one that does not train.
 */
export const laws = ({
  tolerance = 1e-5,
  maxTokens = 16,
  learningRate = 1e-3
}: Options = {}): ReadonlyArray<EngineLaw> =>
  [...samplingLaws, ...scoringLaws, ...trainingLaws, ...checkpointLaws].map((lawOf) =>
    lawOf({ tolerance, maxTokens, learningRate })
  )

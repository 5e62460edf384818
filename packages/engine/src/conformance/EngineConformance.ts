import { checkpointLaws } from "../internal/conformance/CheckpointLaws.ts"
import type { Law } from "../internal/conformance/Law.ts"
import { samplingLaws } from "../internal/conformance/SamplingLaws.ts"
import { scoringLaws } from "../internal/conformance/ScoringLaws.ts"
import { trainingLaws } from "../internal/conformance/TrainingLaws.ts"

export { type Law, LawBroken } from "../internal/conformance/Law.ts"

export interface ConformanceOptions {
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
 *
 * @example
 * ```ts
 * import { it } from "@effect/vitest"
 * import type { Engine } from "@inspo/engine"
 * import { laws } from "@inspo/engine/conformance/EngineConformance"
 * import type { Layer } from "effect"
 *
 * const conforms = (layer: Layer.Layer<Engine>) =>
 *   it.layer(layer)("Engine", (it) => {
 *     for (const { name, check } of laws()) it.effect(name, () => check)
 *   })
 * ```
 */
export const laws = ({
  tolerance = 1e-5,
  maxTokens = 16,
  learningRate = 1e-3
}: ConformanceOptions = {}): ReadonlyArray<Law> =>
  [...samplingLaws, ...scoringLaws, ...trainingLaws, ...checkpointLaws].map((lawOf) =>
    lawOf({ tolerance, maxTokens, learningRate })
  )

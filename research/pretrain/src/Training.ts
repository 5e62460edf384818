import type { EngineError } from "@inspo/engine"
import type { Supervised } from "@inspo/engine-local"
import type { SearchError } from "@inspo/retrieval"
import { Clock, Effect } from "effect"
import type { Examples } from "./Examples.ts"

/**
 * A supervised run: `steps` batches of `batchSize` examples under AdamW. The learning rate rises linearly to its peak
 * over `warmUp` steps while it falls linearly to `finalShare` of the peak over the whole run.
 */
export const defaultOptions = {
  steps: 10_000,
  batchSize: 32,
  learningRate: 2e-3,
  warmUp: 100,
  finalShare: 0.05,
  beta1: 0.9,
  beta2: 0.98,
  weightDecay: 0.01,
  gradientClip: 1
}
export type Options = typeof defaultOptions

/** The metrics of a step, counted from 1; `tokensPerSecond` is that of the run so far, over all tokens. */
export interface Progress {
  readonly step: number
  readonly loss: number
  readonly gradientNorm: number
  readonly tokensPerSecond: number
}

/** The learning rate of a step, counted from 1. */
export const learningRateAt = (step: number, options: Options): number =>
  options.learningRate *
  Math.min(1, step / options.warmUp) *
  Math.max(options.finalShare, 1 - (step - 1) / options.steps)

/** Trains the parameters in place. The next batch is drawn while the workers compute. */
export const train = Effect.fn("Training.train")(function* (
  trainer: Supervised.SupervisedTrainer,
  examples: Examples,
  options: Options,
  onStep: (progress: Progress) => Effect.Effect<void>
): Effect.fn.Return<void, EngineError | SearchError> {
  const startedAt = yield* Clock.currentTimeMillis
  let tokens = 0
  let batch = yield* examples.batch(1, options.batchSize)
  for (let step = 1; step <= options.steps; step++) {
    const [metrics, next] = yield* Effect.all(
      [
        trainer.step(batch, { ...options, learningRate: learningRateAt(step, options) }),
        step === options.steps ? Effect.succeed([]) : examples.batch(step + 1, options.batchSize)
      ],
      { concurrency: 2 }
    )
    tokens += batch.reduce((sum, example) => sum + example.tokens.length, 0)
    const elapsed = (yield* Clock.currentTimeMillis) - startedAt
    yield* onStep({
      step,
      loss: metrics.loss,
      gradientNorm: metrics.gradientNorm,
      tokensPerSecond: elapsed > 0 ? (1000 * tokens) / elapsed : 0
    })
    batch = next
  }
})

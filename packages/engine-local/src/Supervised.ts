import { EngineError, notFinite } from "@inspo/engine"
import { Effect, Schema, type Scope, Semaphore } from "effect"
import * as AdamW from "./AdamW.ts"
import { scalar } from "./internal/Values.ts"
import * as Programs from "./internal/Programs.ts"
import * as SequenceBatches from "./internal/SequenceBatches.ts"
import * as WorkerPool from "./internal/WorkerPool.ts"
import type { ModelConfig } from "./model/ModelConfig.ts"

export type { WeightedSequence } from "./internal/SequenceBatches.ts"

/** `loss` is the weighted mean of -log p, in nats; `tokens` counts the tokens of weight other than 0. */
export const SupervisedMetrics = Schema.Struct({
  loss: Schema.Finite,
  gradientNorm: Schema.Finite,
  tokens: Schema.Int
})
export interface SupervisedMetrics extends Schema.Schema.Type<typeof SupervisedMetrics> {}

/** Learns to predict sequences by cross-entropy; `parameters` and `optimizer` are live. */
export interface SupervisedTrainer {
  readonly parameters: Float32Array
  readonly optimizer: AdamW.AdamWState
  /**
   * One AdamW step on the mean, weighted by `weights`, of the cross-entropy of each token given those before it.
   * Sequences hold 2 to `context + 1` tokens. The result is the same bits for any number of workers.
   */
  readonly step: (
    batch: ReadonlyArray<SequenceBatches.WeightedSequence>,
    options: AdamW.AdamWOptions
  ) => Effect.Effect<SupervisedMetrics, EngineError>
}

/**
 * Starts a trainer on copies of `parameters`, flat in the order of `parameterLayout`. The worker threads end with the
 * scope.
 *
 * @example
 * ```ts
 * import { ModelConfig, Supervised } from "@inspo/engine-local"
 * import { Effect } from "effect"
 *
 * const train = (config: ModelConfig.ModelConfig) =>
 *   Effect.gen(function* () {
 *     const trainer = yield* Supervised.makeSupervisedTrainer({ config, parameters: ModelConfig.initialParameters(config, "seed") })
 *     const options = { learningRate: 1e-3, beta1: 0.9, beta2: 0.99, weightDecay: 0.01, gradientClip: 1 }
 *     return yield* trainer.step([{ tokens: [2, 17, 5], weights: [0, 1, 1] }], options)
 *   }).pipe(Effect.scoped)
 * ```
 */
export const makeSupervisedTrainer = Effect.fn("makeSupervisedTrainer")(function* (options: {
  readonly config: ModelConfig
  readonly parameters: Float32Array
  readonly workers?: number | undefined
}): Effect.fn.Return<SupervisedTrainer, never, Scope.Scope> {
  const { config } = options
  const workers = options.workers ?? WorkerPool.defaultWorkers()
  const pool = yield* WorkerPool.make({ config, parameters: options.parameters, workers, rows: 0 })
  const programs = Programs.make(config)
  const optimizer = AdamW.make(pool.current.length)
  const turn = yield* Semaphore.make(1)

  const step = Effect.fnUntraced(function* (
    batch: ReadonlyArray<SequenceBatches.WeightedSequence>,
    settings: AdamW.AdamWOptions
  ): Effect.fn.Return<SupervisedMetrics, EngineError> {
    yield* check(config, batch)
    const weights = batch.flatMap((sequence) => sequence.weights.slice(1))
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const { gradient, outputs } = yield* WorkerPool.accumulate(
      pool,
      SequenceBatches.batches(programs, batch, total > 0 ? 1 / total : 0),
      ["loss"]
    ).pipe(Effect.mapError((cause) => new EngineError({ operation: "train", reason: cause.reason, cause })))
    const gradientNorm = AdamW.tryUpdate(pool.current, gradient, optimizer, settings)
    if (gradientNorm === null) return yield* notFinite(", so the policy keeps its weights; lower the learning rate")
    return {
      loss: outputs.reduce((sum, output) => sum + scalar(output, "loss"), 0),
      gradientNorm,
      tokens: weights.reduce((count, weight) => (weight === 0 ? count : count + 1), 0)
    }
  })

  return {
    parameters: pool.current,
    optimizer,
    step: (batch, settings) => turn.withPermit(step(batch, settings))
  }
})

const check = (config: ModelConfig, batch: ReadonlyArray<SequenceBatches.WeightedSequence>) => {
  for (const [index, { tokens, weights }] of batch.entries()) {
    const reason =
      tokens.length < 2 || tokens.length > config.context + 1
        ? `sequence ${index} holds ${tokens.length} tokens, expected 2 to ${config.context + 1}`
        : weights.length !== tokens.length
          ? `sequence ${index} holds ${weights.length} weights for ${tokens.length} tokens, expected one each`
          : undefined
    if (reason !== undefined) return Effect.fail(new EngineError({ operation: "train", reason }))
  }
  return Effect.void
}

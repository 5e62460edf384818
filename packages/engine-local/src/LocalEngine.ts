import { Engine, EngineError, type TrainMetrics } from "@inspo/engine"
import { Effect, Layer, type Scope, Semaphore } from "effect"
import * as AdamW from "./AdamW.ts"
import * as Checkpoints from "./internal/Checkpoints.ts"
import * as PolicyTrainer from "./internal/PolicyTrainer.ts"
import * as Programs from "./internal/Programs.ts"
import * as Sampler from "./internal/Sampler.ts"
import * as WorkerPool from "./internal/WorkerPool.ts"
import * as ModelFolder from "./ModelFolder.ts"

/** Where the embedded engine finds its model and keeps its checkpoints, and how much of the machine it uses. */
export interface LocalEngineOptions {
  /** A folder that `ModelFolder.read` accepts; the shipped model when absent. */
  readonly model?: string | undefined
  /** The folder that `save` writes to, made when needed; references are relative to it. */
  readonly checkpoints: string
  /** Worker threads: when absent 2 to 4, as there are cores. Changes no result. */
  readonly workers?: number | undefined
  /** Sequences that one worker decodes at once, at least 2; 80 when absent. Changes no result. */
  readonly rows?: number | undefined
  /** Continue sequences of earlier calls where they ended; true when absent. Changes no result. */
  readonly prefixCache?: boolean | undefined
}

/**
 * The embedded engine: a small transformer, sampled and trained on the CPU by worker threads, which end with the scope.
 *
 * Equal inputs give equal bits on one machine type, whatever the number of workers and rows. A training request whose
 * `key` is that of the one before it is answered as that one was, and changes nothing.
 *
 * @example
 * ```ts
 * import { Engine } from "@inspo/engine"
 * import { layer } from "@inspo/engine-local"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const engine = yield* Engine
 *   return yield* engine.sample([
 *     {
 *       prompt: engine.tokenizer.prompt([{ role: "user", content: "Question: Who is the mayor?" }]),
 *       n: 5,
 *       stop: ["</search>", "</answer>"],
 *       maxTokens: 60,
 *       temperature: 1,
 *       topP: 1,
 *       seed: "0"
 *     }
 *   ])
 * }).pipe(Effect.provide(layer({ checkpoints: "run/checkpoints" })))
 * ```
 */
export const layer = (options: LocalEngineOptions): Layer.Layer<Engine, EngineError> =>
  Layer.effect(Engine, make(options))

const make = Effect.fn("LocalEngine.make")(function* (
  options: LocalEngineOptions
): Effect.fn.Return<Engine.Interface, EngineError, Scope.Scope> {
  yield* runtime
  const model = yield* ModelFolder.read(options.model ?? ModelFolder.shipped).pipe(
    Effect.mapError((cause) => new EngineError({ operation: "start", reason: cause.message, cause }))
  )
  const { model: config, parameters, tokenizer } = model
  const workers = options.workers ?? WorkerPool.defaultWorkers()
  const pool = yield* WorkerPool.make({ config, parameters, workers, rows: Math.max(2, options.rows ?? 80) })
  const programs = Programs.make(config)
  const optimizer = AdamW.make(pool.current.length)
  const sampler = Sampler.make({ config, pool, tokenizer, prefixCache: options.prefixCache ?? true })
  const trainer = PolicyTrainer.make({ config, pool, programs, optimizer })
  const checkpoints = Checkpoints.make({ config, folder: options.checkpoints, parameters: pool.current, optimizer })
  let lastTraining: { readonly key: string; readonly metrics: TrainMetrics } | undefined
  const { alone, changed, hold, sampling } = yield* makeWeightLock(pool.workers, () => {
    pool.sampled.set(pool.current)
    sampler.forget()
  })

  return {
    profile: {
      name: "local",
      model: model.name,
      parameters: pool.current.length,
      contextLength: config.context,
      concurrency: pool.workers * pool.rows,
      lanes: pool.workers,
      stopTexts: "single-token",
      topK: true,
      clipHigh: true,
      deterministic: true,
      fingerprint: model.fingerprint
    },
    tokenizer,

    sample: (requests) => sampling(sampler.sample(requests)),

    train: (request) =>
      alone(
        Effect.gen(function* () {
          if (lastTraining?.key === request.key) return lastTraining.metrics
          const metrics = yield* trainer.train(request)
          changed()
          lastTraining = { key: request.key, metrics }
          return metrics
        }).pipe(Effect.uninterruptible)
      ),

    score: (policy, sequences) => alone(trainer.score(policy, sequences)),

    save: (name) => alone(checkpoints.save(name)),

    restore: (checkpoint, { optimizer = "saved" } = {}) =>
      alone(
        Effect.map(checkpoints.restore(checkpoint, optimizer), () => {
          changed()
          lastTraining = undefined
        })
      ),

    remove: checkpoints.remove,

    hold
  }
})

/** Programs that only offer this engine need not install its runtime, which takes 290 MB. */
const runtime = Effect.try({
  try: () => import.meta.resolve("onnxruntime-node"),
  catch: (cause) =>
    new EngineError({
      operation: "start",
      reason: "the embedded engine needs the package onnxruntime-node: npm install onnxruntime-node",
      cause
    })
})

/**
 * Who may work with the weights of an engine, and when samples come from other ones. `most` samples may go beside each other;
 * `publish` has samples come from the present weights, and no sample runs meanwhile.
 */
const makeWeightLock = Effect.fnUntraced(function* (most: number, publish: () => void) {
  const samples = yield* Semaphore.make(most)
  const weights = yield* Semaphore.make(most)
  const holder = yield* Semaphore.make(1)
  let held = false
  /** What may change the weights goes alone. */
  const alone = weights.withPermits(most)
  /** Samples come from the changed weights from now on, unless others are held. */
  const changed = () => {
    if (!held) publish()
  }
  return {
    /** Samples go beside each other, and beside what changes the weights only while others are held. */
    sampling: <A, E, R>(work: Effect.Effect<A, E, R>) =>
      samples.withPermit(Effect.suspend(() => (held ? work : weights.withPermit(work)))),
    alone,
    changed,
    /** Samples come from the weights of now until the scope closes; one scope at a time. */
    hold: Effect.acquireRelease(Effect.andThen(holder.take(1), alone(Effect.sync(() => void (held = true)))), () =>
      Effect.sync(() => {
        held = false
        changed()
      }).pipe(alone, samples.withPermits(most), Effect.ensuring(holder.release(1)))
    )
  }
})

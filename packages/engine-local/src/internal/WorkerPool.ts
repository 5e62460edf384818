import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import { Cause, Effect, Queue, Schema, type Scope } from "effect"
import { maskedScore } from "../graph/Attention.ts"
import { unknown } from "../graph/Graph.ts"
import { decodeGraph } from "../model/DecodeGraph.ts"
import { headWidth, type ModelConfig, parameterCount, parameterLayout } from "../model/ModelConfig.ts"
import { prefillBlock, prefillGraph } from "../model/PrefillGraph.ts"
import { type ReplyMessage, shareProgram, type Tasks, type WorkerData } from "./Protocol.ts"

/** A worker threw or died. A dead worker fails every later task of its pool too. */
export class WorkerFailure extends Schema.TaggedError<WorkerFailure>()("WorkerFailure", { reason: Schema.String }) {}

/** Worker threads that share one pair of policies and a fixed number of gradient lanes. */
export interface WorkerPool {
  readonly workers: number
  readonly rows: number
  readonly current: Float32Array
  readonly reference: Float32Array
  readonly lanes: ReadonlyArray<Float32Array>
  /** Runs a task on the next idle worker. Not interruptible: a worker cannot be stopped halfway. */
  readonly run: <K extends keyof Tasks>(
    task: K,
    request: Tasks[K]["request"]
  ) => Effect.Effect<Tasks[K]["reply"], WorkerFailure>
}

/**
 * The number of gradient lanes. Micro-batches are dealt to lanes and lanes to workers, and lanes are summed in order,
 * so that the number of workers changes no bit of the sum. A multiple of any sensible number of workers.
 */
export const laneCount = 8

/** Two workers, or as many as there are cores up to four. */
export const defaultWorkers = (): number => Math.max(2, Math.min(4, availableParallelism()))

/** Slots of the key-value cache: the context, rounded up to what decoding programs take. */
export const contextOf = (config: ModelConfig): number => 16 * Math.ceil(config.context / 16)

/** Starts `workers` threads; both policies start as `parameters`. The threads end with the scope. */
export const make = Effect.fnUntraced(function* (options: {
  readonly config: ModelConfig
  readonly parameters: Float32Array
  readonly workers: number
  /** Sequences that one worker decodes at once. */
  readonly rows: number
}): Effect.fn.Return<WorkerPool, never, Scope.Scope> {
  const bytes = 4 * parameterCount(options.config)
  const data: WorkerData = {
    config: options.config,
    layout: parameterLayout(options.config),
    policies: { current: new SharedArrayBuffer(bytes), reference: new SharedArrayBuffer(bytes) },
    lanes: Array.from({ length: laneCount }, () => new SharedArrayBuffer(bytes)),
    cache: {
      layers: options.config.layers,
      heads: options.config.keyValueHeads,
      headWidth: headWidth(options.config),
      context: contextOf(options.config),
      maskedScore
    },
    decode: shareProgram(decodeGraph(options.config, anySize)),
    prefill: shareProgram(prefillGraph(options.config, anySize)),
    block: prefillBlock,
    rows: options.rows
  }
  const current = new Float32Array(data.policies.current)
  const reference = new Float32Array(data.policies.reference)
  current.set(options.parameters)
  reference.set(options.parameters)

  const idle = yield* Queue.unbounded<Worker, WorkerFailure>()
  let failure: WorkerFailure | undefined
  const fail = (error: WorkerFailure) => {
    failure ??= error
    Queue.failCauseUnsafe(idle, Cause.fail(failure))
  }
  for (let index = 0; index < options.workers; index++) {
    const worker = yield* Effect.acquireRelease(
      Effect.sync(() => new Worker(workerUrl, { workerData: data })),
      (worker) => Effect.promise(() => worker.terminate())
    )
    worker.on("error", (error) => fail(crashed(error)))
    worker.on("exit", (code) => fail(exited(code)))
    yield* Queue.offer(idle, worker)
  }

  return {
    workers: options.workers,
    rows: options.rows,
    current,
    reference,
    lanes: data.lanes.map((lane) => new Float32Array(lane)),
    run: (task, request) =>
      Effect.uninterruptible(
        Effect.acquireUseRelease(
          Queue.take(idle),
          (worker) => Effect.suspend(() => failure ?? post(worker, task, request)),
          (worker) => Queue.offer(idle, worker)
        )
      )
  }
})

const anySize = { rows: unknown, context: unknown }

const post = <K extends keyof Tasks>(
  worker: Worker,
  task: K,
  request: Tasks[K]["request"]
): Effect.Effect<Tasks[K]["reply"], WorkerFailure> =>
  Effect.callback((resume) => {
    const done = (effect: Effect.Effect<Tasks[K]["reply"], WorkerFailure>) => {
      worker.off("message", onMessage).off("error", onError).off("exit", onExit)
      resume(effect)
    }
    const onMessage = (message: ReplyMessage<K>) => {
      done(
        "error" in message ? Effect.fail(new WorkerFailure({ reason: message.error })) : Effect.succeed(message.reply)
      )
    }
    const onError = (error: unknown) => done(Effect.fail(crashed(error)))
    const onExit = (code: number) => done(Effect.fail(exited(code)))
    worker.on("message", onMessage).on("error", onError).on("exit", onExit)
    worker.postMessage({ task, request })
  })

const crashed = (error: unknown): WorkerFailure =>
  new WorkerFailure({ reason: `a worker thread crashed: ${error instanceof Error ? error.message : String(error)}` })

const exited = (code: number): WorkerFailure =>
  new WorkerFailure({ reason: `a worker thread ended with code ${code}; build the engine anew` })

/** The worker beside this module, whether that runs from source or compiled. */
const workerUrl = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url)

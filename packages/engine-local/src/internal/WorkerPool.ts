import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import { Cause, Effect, Queue, Schema, type Scope } from "effect"
import { maskedScore } from "../graph/Attention.ts"
import { Graph, unknown } from "../graph/Graph.ts"
import type { Program } from "../graph/Program.ts"
import { decodeGraph } from "../model/DecodeGraph.ts"
import { headWidth, type ModelConfig, parameterLayout } from "../model/ModelConfig.ts"
import { prefillBlock, prefillGraph } from "../model/PrefillGraph.ts"
import { type ReplyMessage, shareArray, shareProgram, type Tasks, type WorkerData } from "./Protocol.ts"

/** A worker threw or died. A dead worker fails every later task of its pool too. */
export class WorkerFailure extends Schema.TaggedError<WorkerFailure>()("WorkerFailure", { reason: Schema.String }) {}

/** Worker threads that share one pair of policies and a fixed number of gradient lanes. */
export interface WorkerPool {
  readonly workers: number
  readonly rows: number
  /** Workers that have no task at present. */
  readonly idle: () => number
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

export interface Options {
  readonly config: ModelConfig
  readonly parameters: Float32Array
  readonly workers: number
  /** Sequences that one worker decodes at once. */
  readonly rows: number
}

/** Starts `workers` threads; both policies start as `parameters`. The threads end with the scope. */
export const make = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<WorkerPool, never, Scope.Scope> {
  const data = workerData(options)
  const current = new Float32Array(data.policies.current)
  const reference = new Float32Array(data.policies.reference)

  const idle = yield* Queue.unbounded<Worker, WorkerFailure>()
  let failure: WorkerFailure | undefined
  const fail = (error: WorkerFailure) => {
    failure ??= error
    Queue.failCauseUnsafe(idle, Cause.fail(failure))
  }
  for (let index = 0; index < options.workers; index++) {
    const worker = yield* Effect.acquireRelease(
      Effect.sync(() => new Worker(workerUrl, { workerData: data })),
      end
    )
    worker.on("error", (error) => fail(crashed(error)))
    worker.on("exit", (code) => fail(exited(code)))
    yield* Queue.offer(idle, worker)
  }

  return {
    workers: options.workers,
    rows: options.rows,
    idle: () => Queue.sizeUnsafe(idle),
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

/** What the workers of a pool are started with. */
export const workerData = ({ config, parameters, rows }: Omit<Options, "workers">): WorkerData => ({
  config,
  layout: parameterLayout(config),
  policies: { current: shareArray(parameters), reference: shareArray(parameters) },
  lanes: Array.from({ length: laneCount }, () => new SharedArrayBuffer(parameters.byteLength)),
  cache: {
    layers: config.layers,
    heads: config.keyValueHeads,
    headWidth: headWidth(config),
    context: contextOf(config),
    maskedScore
  },
  probe: shareProgram(copyGraph()),
  decode: shareProgram(decodeGraph(config, anySize)),
  prefill: shareProgram(prefillGraph(config, anySize)),
  block: prefillBlock,
  rows
})

/** Copies one number. */
const copyGraph = (): Program => {
  const graph = new Graph()
  graph.output("y", graph.input("x", [1]))
  return graph.build()
}

const anySize = { rows: unknown, context: unknown }

/** Ends a worker once it has come to its messages: one that is still loading native code would take the process with it. */
const end = (worker: Worker): Effect.Effect<void> =>
  Effect.suspend(() => (worker.threadId === ended ? Effect.void : Effect.ignore(post(worker, "sample", [])))).pipe(
    Effect.andThen(Effect.promise(() => worker.terminate()))
  )

/** The thread id of a worker that is over. */
const ended = -1

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

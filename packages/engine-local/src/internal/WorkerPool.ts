import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import { Array as Arr, Cause, Clock, Deferred, Duration, Effect, Order, Queue, Schema } from "effect"
import { maskedScore } from "../graph/Attention.ts"
import { Graph, unknown } from "../graph/Graph.ts"
import type { Program } from "../graph/Program.ts"
import { decodeGraph } from "../model/DecodeGraph.ts"
import { headWidth, type ModelConfig, parameterLayout } from "../model/ModelConfig.ts"
import { prefillBlock, prefillGraph } from "../model/PrefillGraph.ts"
import {
  type Batch,
  type EvaluateReply,
  type ReplyMessage,
  shareArray,
  shareProgram,
  type Tasks,
  type WorkerData
} from "./Protocol.ts"
import { add } from "./Values.ts"

/** A worker threw or died. A dead worker fails every later task of its pool too. */
export class WorkerFailure extends Schema.TaggedError<WorkerFailure>()("WorkerFailure", {
  reason: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/**
 * The number of gradient lanes. Micro-batches are dealt to lanes and lanes to workers, and lanes are summed in order,
 * so that the number of workers changes no bit of the sum. A multiple of any sensible number of workers.
 */
const laneCount = 8

/** Two workers, or as many as there are cores up to four. */
export const defaultWorkers = (): number => Math.max(2, Math.min(4, availableParallelism()))

/** Slots of the key-value cache: the context, rounded up to what decoding programs take. */
const contextOf = (config: ModelConfig): number => 16 * Math.ceil(config.context / 16)

export interface Options {
  readonly config: ModelConfig
  readonly parameters: Float32Array
  readonly workers: number
  /** Sequences that one worker decodes at once. */
  readonly rows: number
  /** How long an interrupted task, and the end of a worker, are waited for; 30 seconds when absent. */
  readonly timeout?: Duration.Input
  /** The module that the threads run; `worker` beside this one when absent. */
  readonly module?: URL
}

export type WorkerPool = Effect.Success<ReturnType<typeof make>>

/** Starts `workers` threads until the scope ends. They share the policies, which start as `parameters`, and the gradient lanes. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const { module = workerUrl, timeout = "30 seconds" } = options
  const data = workerData(options)
  const current = new Float32Array(data.policies.current)
  const reference = new Float32Array(data.policies.reference)
  const sampled = new Float32Array(data.policies.sampled)

  const idle = yield* Queue.unbounded<Worker, WorkerFailure>()
  let failure: WorkerFailure | undefined
  const fail = (error: WorkerFailure) => {
    failure ??= error
    Queue.failCauseUnsafe(idle, Cause.fail(failure))
  }
  /** Waits for the end of an interrupted task, or gives the pool up. */
  const inTime = (over: Effect.Effect<void>) =>
    inRealTime(Effect.timeoutOrElse(over, { duration: timeout, orElse: () => Effect.sync(() => fail(hung(timeout))) }))
  for (let index = 0; index < options.workers; index++) {
    const worker = yield* Effect.acquireRelease(
      Effect.sync(() => new Worker(module, { workerData: data })),
      (worker) => end(worker, timeout)
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
    sampled,
    lanes: data.lanes.map((lane) => new Float32Array(lane)),
    /**
     * Runs a task on the next idle worker. A worker cannot be stopped halfway, so an interrupted task ends with the worker's
     * answer; one that does not come in time costs the worker, and with it the pool.
     */
    run: <K extends keyof Tasks>(
      task: K,
      request: Tasks[K]["request"]
    ): Effect.Effect<Tasks[K]["reply"], WorkerFailure> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(Queue.take(idle)), (worker) =>
          Effect.suspend(() => failure ?? post(worker, task, request, inTime)).pipe(
            restore,
            Effect.ensuring(Queue.offer(idle, worker))
          )
        )
      )
  }
})

/** A batch with an estimate of its running time, in any unit. */
export interface CostedBatch extends Batch {
  readonly cost: number
}

/**
 * Sums the gradients of `batches` under the current policy and gives the outputs asked for in batch order. Both are the
 * same bits for any number of workers. The gradient is in a lane: it lasts until the next call.
 */
export const accumulate = Effect.fnUntraced(function* (
  pool: WorkerPool,
  batches: ReadonlyArray<CostedBatch>,
  outputs: ReadonlyArray<string>
): Effect.fn.Return<{ readonly gradient: Float32Array; readonly outputs: EvaluateReply }, WorkerFailure> {
  const dealt = deal(
    batches.map((batch) => batch.cost),
    pool.lanes.length
  )
  const replies = yield* Effect.forEach(
    dealt,
    (indices, lane) =>
      pool.run("evaluate", {
        policy: "current",
        lane,
        outputs,
        batches: indices.flatMap((index) => batches[index] ?? [])
      }),
    { concurrency: "unbounded" }
  )
  const [gradient = new Float32Array(pool.current.length), ...others] = pool.lanes.slice(0, dealt.length)
  for (const lane of others) add(gradient, lane)
  const inOrder: Array<EvaluateReply[number]> = []
  dealt.forEach((indices, lane) => {
    indices.forEach((index, at) => {
      const reply = replies[lane]?.[at]
      if (reply !== undefined) inOrder[index] = reply
    })
  })
  return { gradient, outputs: inOrder }
})

/**
 * Deals jobs to at most `lanes` lanes of nearly equal cost: the dearest job first, each to the cheapest lane so far.
 * Returns the indices of each lane's jobs; no lane is empty.
 */
export const deal = (costs: ReadonlyArray<number>, lanes: number): ReadonlyArray<ReadonlyArray<number>> => {
  const dealt = Array.from({ length: Math.min(lanes, costs.length) }, () => ({ cost: 0, indices: new Array<number>() }))
  const byCost = Arr.sort(
    costs.map((cost, index) => ({ cost, index })),
    Order.mapInput(Order.flip(Order.Number), (job: { readonly cost: number }) => job.cost)
  )
  for (const { cost, index } of byCost) {
    const lane = dealt.reduce((cheapest, lane) => (lane.cost < cheapest.cost ? lane : cheapest))
    lane.cost += cost
    lane.indices.push(index)
  }
  return dealt.map((lane) => lane.indices)
}

/** What the workers of a pool are started with. */
export const workerData = ({ config, parameters, rows }: Omit<Options, "workers">): WorkerData => ({
  config,
  layout: parameterLayout(config),
  policies: { current: shareArray(parameters), reference: shareArray(parameters), sampled: shareArray(parameters) },
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

/**
 * Ends a worker once it reads its messages: one that is within native code would take the process with it. One that
 * does not read them in time ends when it does, and keeps no process alive.
 */
const end = (worker: Worker, timeout: Duration.Input): Effect.Effect<void> => {
  const answered = Effect.exit(Effect.interruptible(post(worker, "sample", [], () => Effect.void)))
  const terminate = Effect.promise(() => worker.terminate())
  return Effect.suspend(() => (worker.threadId === ended ? terminate : Effect.andThen(answered, terminate))).pipe(
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () =>
        Effect.sync(() => {
          worker.once("message", () => worker.terminate())
          worker.unref()
        })
    }),
    inRealTime
  )
}

/** Threads work by the real clock, whatever another one says. */
const inRealTime = Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())

/** The thread id of a worker that is over. */
const ended = -1

const post = <K extends keyof Tasks>(
  worker: Worker,
  task: K,
  request: Tasks[K]["request"],
  whenInterrupted: (over: Effect.Effect<void>) => Effect.Effect<void>
): Effect.Effect<Tasks[K]["reply"], WorkerFailure> =>
  Effect.callback((resume) => {
    const over = Deferred.makeUnsafe<void>()
    const done = (effect: Effect.Effect<Tasks[K]["reply"], WorkerFailure>) => {
      worker.off("message", onMessage).off("error", onError).off("exit", onExit)
      Deferred.doneUnsafe(over, Effect.void)
      resume(effect)
    }
    const onMessage = (message: ReplyMessage<K>) => {
      done("error" in message ? Effect.fail(threw(message.error)) : Effect.succeed(message.reply))
    }
    const onError = (error: unknown) => done(Effect.fail(crashed(error)))
    const onExit = (code: number) => done(Effect.fail(exited(code)))
    worker.on("message", onMessage).on("error", onError).on("exit", onExit)
    worker.postMessage({ task, request })
    return whenInterrupted(Effect.interruptible(Deferred.await(over)))
  })

const hung = (timeout: Duration.Input): WorkerFailure =>
  new WorkerFailure({
    reason:
      `a worker thread did not end its task within ${Duration.format(Duration.fromInputUnsafe(timeout))} of being ` +
      "interrupted; build the engine again"
  })

const threw = (cause: unknown): WorkerFailure =>
  new WorkerFailure({ reason: cause instanceof Error ? cause.message : String(cause), cause })

const crashed = (error: unknown): WorkerFailure =>
  new WorkerFailure({
    reason: `a worker thread crashed: ${error instanceof Error ? error.message : String(error)}`,
    cause: error
  })

const exited = (code: number): WorkerFailure =>
  new WorkerFailure({ reason: `a worker thread ended with code ${code}; build the engine again` })

/** The worker beside this module, whether that runs from source or compiled. */
const workerUrl = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url)

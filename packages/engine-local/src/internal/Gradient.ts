import { Effect } from "effect"
import { add } from "./Values.ts"
import { deal } from "./Deal.ts"
import type { Batch, EvaluateReply } from "./Protocol.ts"
import type { WorkerFailure, WorkerPool } from "./WorkerPool.ts"

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

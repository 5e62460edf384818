import { promisify } from "node:util"
import { zstdCompress } from "node:zlib"
import type { Sequence, TrainMetrics, TrainRequest } from "@inspo/engine"
import { Array as Arr, Effect } from "effect"
import { HttpBody } from "effect/http"
import * as Protobuf from "../../Protobuf.ts"
import type * as Wire from "../../Wire.ts"
import type { Connection, Request } from "./Connection.ts"
import * as Datums from "./Datums.ts"
import * as Metrics from "./Metrics.ts"
import { type Model, next } from "./Model.ts"
import type { RequestFailure } from "./RequestFailure.ts"
import { readLosses, readStep } from "./Results.ts"
import type { Server } from "./Server.ts"

export type Training = ReturnType<typeof make>

/** What a model is trained with. */
export const make = (connection: Connection, server: Server, protobuf: boolean) => {
  const { limits, profile } = server

  const lossRequest = Effect.fnUntraced(function* (
    model: Model,
    input: Wire.LossInput,
    forwardOnly: boolean
  ): Effect.fn.Return<Request> {
    const repeatable = forwardOnly || profile.deduplicates
    if (!protobuf)
      return forwardOnly
        ? next(model, "forward", { forward_input: input }, repeatable)
        : next(model, "forward_backward", { forward_backward_input: input }, repeatable)
    const bytes = Protobuf.encodeForwardBackward({ modelId: model.id, seqId: ++model.sequence, input, forwardOnly })
    const body = limits.compress ? yield* Effect.orDie(Effect.tryPromise(() => compress(bytes))) : bytes
    return {
      path: "forward_backward",
      body: HttpBody.uint8Array(body, Protobuf.contentType),
      headers: limits.compress ? { "content-encoding": "zstd" } : {},
      repeatable
    }
  })

  const chunked = (datums: ReadonlyArray<Wire.Datum>) =>
    Datums.chunks(datums, { most: limits.datums, bytes: limits.bytes, protobuf })

  /** Log-probabilities of responses under a model. */
  const score = Effect.fnUntraced(function* (model: Model, sequences: ReadonlyArray<Sequence>) {
    const outputs = yield* Effect.forEach(chunked(Datums.scoring(sequences)), (data) =>
      Effect.flatMap(lossRequest(model, { data, loss_fn: "cross_entropy" }, true), (request) =>
        connection.call(request, readLosses(data))
      )
    )
    return Arr.zipWith(outputs.flat(), sequences, Datums.ofResponse)
  })

  /** The gradient of datums and one optimizer step. */
  const step = Effect.fnUntraced(function* (
    model: Model,
    request: TrainRequest,
    datums: ReadonlyArray<Wire.Datum>
  ): Effect.fn.Return<TrainMetrics, RequestFailure> {
    const { clipRatio } = request.loss
    const waiting: Array<Effect.Effect<ReadonlyArray<ReadonlyArray<number>>, RequestFailure>> = []
    const logprobs: Array<ReadonlyArray<number>> = []
    for (const data of chunked(datums)) {
      const gradient = yield* lossRequest(
        model,
        {
          data,
          loss_fn: "ppo",
          loss_fn_config: { clip_low_threshold: 1 - clipRatio, clip_high_threshold: 1 + clipRatio }
        },
        false
      )
      const result = yield* connection.submit(gradient, readLosses(data))
      if (profile.pipelines) waiting.push(result)
      else logprobs.push(...(yield* result))
    }
    const stepped = yield* connection.submit(
      next(
        model,
        "optim_step",
        { type: "optim_step", adam_params: adamParams(request.optimizer) },
        profile.deduplicates
      ),
      readStep
    )
    for (const result of waiting) logprobs.push(...(yield* result))
    const metrics = yield* stepped
    return Metrics.fromServer(metrics) ?? Metrics.compute(request, logprobs, metrics)
  })

  return { score, step }
}

const adamParams = (optimizer: TrainRequest["optimizer"]): Wire.AdamParams => ({
  learning_rate: optimizer.learningRate,
  beta1: optimizer.beta1,
  beta2: optimizer.beta2,
  eps: optimizer.epsilon ?? 1e-8,
  weight_decay: optimizer.weightDecay,
  grad_clip_norm: Number.isFinite(optimizer.gradientClip) ? optimizer.gradientClip : 0
})

const compress = promisify(zstdCompress)

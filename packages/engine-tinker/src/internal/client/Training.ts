import { promisify } from "node:util"
import { zstdCompress } from "node:zlib"
import { EngineError, type Engine, type Sequence, type TrainMetrics, type TrainRequest } from "@inspo/engine"
import { Array as Arr, Effect, Ref } from "effect"
import { HttpBody } from "effect/http"
import type { Profile } from "../../Profile.ts"
import * as Protobuf from "../../Protobuf.ts"
import type * as Wire from "../../Wire.ts"
import type { Connection, Request } from "./Connection.ts"
import * as Datums from "./Datums.ts"
import * as Metrics from "./Metrics.ts"
import { type Model, next } from "./Model.ts"
import type { Models } from "./Models.ts"
import type { RequestFailure } from "./RequestFailure.ts"
import { readLosses, readStep } from "./Results.ts"
import type { Sampling } from "./Sampling.ts"
import type { Server } from "./Server.ts"
import type { TrainedModel } from "./TrainedModel.ts"

export type Training = ReturnType<typeof make>

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
    const { clipRatio, clipHigh = clipRatio } = request.loss
    const waiting: Array<Effect.Effect<ReadonlyArray<ReadonlyArray<number>>, RequestFailure>> = []
    const logprobs: Array<ReadonlyArray<number>> = []
    for (const data of chunked(datums)) {
      const gradient = yield* lossRequest(
        model,
        {
          data,
          loss_fn: "ppo",
          loss_fn_config: { clip_low_threshold: 1 - clipRatio, clip_high_threshold: 1 + clipHigh }
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

export const steps = Effect.fnUntraced(function* (
  trained: TrainedModel,
  training: Training,
  profile: Profile,
  url: string
) {
  const last = yield* Ref.make<{ readonly key: string; readonly metrics: TrainMetrics } | null>(null)
  return {
    /** Makes a step; the one that was made last is answered again and not made again. */
    train: Effect.fnUntraced(function* (request: TrainRequest) {
      yield* trained.sound("train")
      yield* check(request, url)
      const before = yield* Ref.get(last)
      if (before?.key === request.key) return before.metrics
      const datums = Datums.training(request.datums, profile)
      if (datums.length === 0) return { loss: 0, kl: 0, clipFraction: 0, gradientNorm: 0, tokens: 0 }
      const metrics = yield* trained.change(`the step ${request.key} did not finish`, (model) =>
        training.step(model, request, datums)
      )
      yield* Ref.set(last, { key: request.key, metrics })
      return metrics
    }),
    /** Forgets which step was made last. */
    forget: Ref.set(last, null)
  }
})

/** Refuses what the protocol has no place for, before anything is sent. */
const check = ({ datums, loss }: TrainRequest, url: string): Effect.Effect<void, EngineError> => {
  const refuse = (reason: string) => Effect.fail(new EngineError({ operation: "train", reason }))
  if (loss.klCoefficient !== 0)
    return refuse(
      `klCoefficient is ${loss.klCoefficient}, expected 0: the protocol has no KL term in its loss; it can be folded into ` +
        "the advantages"
    )
  const problem = Datums.problem(datums)
  return problem === null ? Effect.void : refuse(`${problem}; nothing was sent to ${url}`)
}

interface ScoringOptions {
  readonly models: Models
  readonly profile: Profile
  readonly sampling: Sampling
  readonly trained: TrainedModel
  readonly training: Training
}

/** Log-probabilities of responses, under the trained model or the base model. */
export const scoring = (options: ScoringOptions) =>
  Effect.fnUntraced(function* (
    policy: Parameters<Engine.Interface["score"]>[0],
    sequences: ReadonlyArray<Sequence>
  ): Effect.fn.Return<ReadonlyArray<ReadonlyArray<number>>, RequestFailure | EngineError> {
    const model = yield* options.trained.sound("score")
    const empty = sequences.findIndex(({ prompt, response }) => prompt.length === 0 && response.length > 0)
    if (empty >= 0)
      return yield* new EngineError({
        operation: "score",
        reason: `sequences[${empty}].prompt is empty, expected at least one token`
      })
    const answered = sequences.filter(({ response }) => response.length > 0)
    const scores = yield* policy === "current"
      ? options.training.score(model, answered)
      : scoreReference(options, answered)
    const scored = new Map(Arr.zip(answered, scores))
    return sequences.map((sequence) => scored.get(sequence) ?? [])
  })

const scoreReference = Effect.fnUntraced(function* (
  { models, profile, sampling, training }: ScoringOptions,
  sequences: ReadonlyArray<Sequence>
) {
  switch (profile.reference) {
    case "model":
      return yield* training.score(yield* models.reference, sequences)
    case "sampler":
      return yield* sampling.score(yield* models.baseSampler, sequences)
    case "none":
      return yield* new EngineError({
        operation: "score",
        reason: `a server of profile ${profile.name} gives no log-probabilities of its base model, which a KL term needs`
      })
  }
})

const adamParams = (optimizer: TrainRequest["optimizer"]): Wire.AdamParams => ({
  learning_rate: optimizer.learningRate,
  beta1: optimizer.beta1,
  beta2: optimizer.beta2,
  eps: optimizer.epsilon ?? 1e-8,
  weight_decay: optimizer.weightDecay,
  grad_clip_norm: Number.isFinite(optimizer.gradientClip) ? optimizer.gradientClip : 0
})

const compress = promisify(zstdCompress)

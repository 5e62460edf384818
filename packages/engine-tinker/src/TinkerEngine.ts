import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { zstdCompress } from "node:zlib"
import {
  Engine,
  EngineError,
  type SampledSequence,
  type SampleRequest,
  type Sequence,
  type Tokenizer,
  type TrainMetrics,
  type TrainRequest
} from "@inspo/engine"
import { type Duration, Effect, Layer, type Redacted, Result, Schedule, Schema, type Scope, Semaphore } from "effect"
import { HttpBody, HttpClient } from "effect/http"
import * as Backpressure from "./internal/client/Backpressure.ts"
import * as Connection from "./internal/client/Connection.ts"
import * as Datums from "./internal/client/Datums.ts"
import * as Metrics from "./internal/client/Metrics.ts"
import * as Reply from "./internal/client/Reply.ts"
import type { RequestFailure } from "./internal/client/RequestFailure.ts"
import * as Server from "./internal/client/Server.ts"
import type { ProfileName } from "./Profile.ts"
import * as Protobuf from "./Protobuf.ts"
import * as Wire from "./Wire.ts"

export interface TinkerEngineOptions {
  /** Base URL of the server, to which `/api/v1/…` is added. */
  readonly url: string
  /** Text and tokens of the model. */
  readonly tokenizer: Tokenizer
  /** The base model to train; the first that the server supports when absent. */
  readonly model?: string | null | undefined
  readonly apiKey?: Redacted.Redacted | null | undefined
  /** Which server it is; asked of the server when absent. */
  readonly profile?: ProfileName | undefined
  /** How samples and gradients travel; protobuf where the server takes it when absent. */
  readonly encoding?: "auto" | "json" | "protobuf" | undefined
  /** Tokens of prompt and response together; as the server says when absent. */
  readonly contextLength?: number | null | undefined
  /** Rank of the LoRA adapter where the server trains one; 0 asks for all parameters. 32 when absent. */
  readonly loraRank?: number | null | undefined
  /** Sequences in flight at once; as the server says, or 512, when absent. */
  readonly concurrency?: number | null | undefined
  /** How long the server may be out of reach; 5 minutes when absent. */
  readonly patience?: Duration.Input | undefined
  /**
   * How long one answer may take; 60 seconds when absent. Null leaves that to the HTTP client, which saves a fiber per
   * request where the client has a limit of its own.
   */
  readonly answerWithin?: Duration.Input | null | undefined
}

/**
 * An engine behind a server of the Tinker protocol: hosted Tinker, SkyRL, verl-tinker or `inspo engine serve`.
 *
 * Every request is tried again as long as that cannot do a thing twice. When it is unknown whether a gradient or a step was
 * done and the server would not notice a repetition, the engine fails and takes nothing but `restore` any more: it loads a
 * checkpoint into a new model, which leaves doubtful gradients behind.
 *
 * The protocol has no KL term in its loss, so `train` refuses one. The key is never part of an error or a log.
 */
export const layer = (options: TinkerEngineOptions): Layer.Layer<Engine, EngineError, HttpClient.HttpClient> =>
  Layer.effect(Engine, make(options))

/** The model being trained. */
interface Live {
  readonly id: string
  /** Of the last request sent. */
  sequence: number
  /** The sampling session of the present weights, if one was asked for. */
  sampler: Sampler | null
  /** Why its weights cannot be trusted, if so. */
  broken: string | null
}

interface Sampler {
  readonly id: string
  requests: number
}

const make = Effect.fn("TinkerEngine.make")(function* (
  options: TinkerEngineOptions
): Effect.fn.Return<Engine.Interface, EngineError, HttpClient.HttpClient | Scope.Scope> {
  const client = yield* HttpClient.HttpClient
  const connect = (protobuf: boolean, patience: Duration.Input) =>
    Connection.make(client, {
      url: options.url,
      apiKey: options.apiKey ?? null,
      patience,
      protobuf,
      answerWithin: options.answerWithin === undefined ? "60 seconds" : options.answerWithin
    })
  const server = yield* Server.probe(connect(false, "5 seconds"), {
    url: options.url,
    profile: options.profile ?? "auto",
    model: options.model ?? null
  })
  const { facts, limits, profile } = server
  const encoding = options.encoding ?? "auto"
  const protobuf = encoding === "auto" ? profile.protobuf : encoding === "protobuf"
  const connection = connect(protobuf, options.patience ?? "5 minutes")
  const contextLength = options.contextLength ?? server.contextLength
  if (contextLength === undefined)
    return yield* new EngineError({
      operation: "start",
      reason: `${options.url} does not tell the context length of ${server.model}; set engine.contextLength`
    })
  const concurrency = options.concurrency ?? facts?.concurrency ?? 512
  const pressure = yield* Backpressure.make(concurrency)
  const { tokenizer } = options

  const fail = (operation: EngineError["operation"]) => (error: RequestFailure | EngineError) =>
    error._tag === "EngineError"
      ? error
      : new EngineError({ operation, reason: `${options.url} (${profile.name}): ${error.message}` })

  const post = (path: string, body: object, repeatable = true): Connection.Request => ({
    path,
    body: Connection.jsonBody(body),
    repeatable
  })
  const call = <A>(request: Connection.Request, decode: Reply.Decode<A>) =>
    Effect.flatten(connection.submit(request, decode))

  const openSession = Effect.map(
    connection.post(
      post("create_session", { type: "create_session", tags: ["inspo"], sdk_version: Server.sdkVersion }),
      Reply.json(Wire.CreateSessionResponse)
    ),
    ({ session_id }) => session_id
  )
  let session = yield* Effect.mapError(openSession, fail("start"))
  yield* Effect.suspend(() =>
    connection.post(post("session_heartbeat", { session_id: session }), Reply.json(Schema.Unknown))
  ).pipe(Effect.ignore, Effect.repeat(Schedule.spaced("10 seconds")), Effect.forkScoped)

  let modelCount = 0
  let samplerCount = 0

  const createModel = Effect.gen(function* () {
    const rank = options.loraRank ?? 32
    const { model_id } = yield* call(
      post("create_model", {
        type: "create_model",
        session_id: session,
        model_seq_id: modelCount++,
        base_model: server.model,
        ...(profile.lora ? { lora_config: { rank } } : {})
      }),
      Reply.json(Wire.ModelIdResponse)
    )
    const model: Live = { id: model_id, sequence: 0, sampler: null, broken: null }
    return model
  })

  const unload = ({ id }: Live) =>
    profile.unloads
      ? Effect.ignore(call(post("unload_model", { model_id: id }), Reply.json(Schema.Unknown)))
      : Effect.void

  let live = yield* Effect.mapError(createModel, fail("start"))
  let reference: Live | null = null
  let baseSampler: Sampler | null = null
  let lastTraining: { readonly key: string; readonly metrics: TrainMetrics } | undefined
  // Requests of a model leave one after the other, in the order of their numbers.
  const turn = yield* Semaphore.make(1)
  const alone = Semaphore.withPermit(turn)

  /** The model, given that its weights are known. */
  const sound = (operation: EngineError["operation"]) =>
    Effect.suspend(() =>
      live.broken === null
        ? Effect.succeed(live)
        : Effect.fail(
            new EngineError({
              operation,
              reason: `the weights on ${options.url} are in doubt (${live.broken}); restore a checkpoint, as resuming the run does`
            })
          )
    )

  /** A request of a model, under its next number. */
  const next = (model: Live, path: string, body: object, repeatable = profile.deduplicates) =>
    post(path, { model_id: model.id, seq_id: ++model.sequence, ...body }, repeatable)

  const lossRequest = Effect.fnUntraced(function* (model: Live, input: Wire.LossInput, forwardOnly: boolean) {
    if (!protobuf) {
      return forwardOnly
        ? next(model, "forward", { forward_input: input }, true)
        : next(model, "forward_backward", { forward_backward_input: input })
    }
    const bytes = Protobuf.encodeForwardBackward({ modelId: model.id, seqId: ++model.sequence, input, forwardOnly })
    const body = limits.compress ? yield* Effect.orDie(Effect.tryPromise(() => compress(bytes))) : bytes
    return {
      path: "forward_backward",
      body: HttpBody.uint8Array(body, Protobuf.contentType),
      headers: limits.compress ? { "content-encoding": "zstd" } : {},
      repeatable: forwardOnly || profile.deduplicates
    }
  })

  const chunked = (datums: ReadonlyArray<Wire.Datum>) =>
    Datums.chunks(datums, { most: limits.datums, bytes: limits.bytes, protobuf })

  const forward = Effect.fnUntraced(function* (model: Live, sequences: ReadonlyArray<Sequence>) {
    const outputs = yield* Effect.forEach(chunked(Datums.scoring(sequences)), (data) =>
      Effect.flatMap(lossRequest(model, { data, loss_fn: "cross_entropy" }, true), (request) =>
        call(request, readLosses(data))
      )
    )
    return outputs
      .flatMap(({ loss_fn_outputs }) => loss_fn_outputs)
      .map((output, index) => Datums.ofResponse(output["logprobs"]?.data ?? [], sequences[index] ?? nothing))
  })

  const currentSampler = Effect.fnUntraced(function* (model: Live) {
    if (model.sampler !== null) return model.sampler
    const { sampling_session_id: id } = yield* call(
      next(
        model,
        "save_weights_for_sampler",
        { type: "save_weights_for_sampler", sampling_session_seq_id: samplerCount++ },
        true
      ),
      readSampler
    )
    model.sampler = { id, requests: 0 }
    return model.sampler
  })

  /** Sends one prompt to a sampler. */
  const ask = <A>(
    sampler: Sampler,
    body: Omit<Wire.SampleRequest, "sampling_session_id" | "seq_id">,
    seed: string | undefined,
    decode: Reply.Decode<A>
  ) =>
    pressure.limit(
      Effect.suspend(() => {
        const json = JSON.stringify({
          type: "sample",
          sampling_session_id: sampler.id,
          seq_id: sampler.requests++,
          ...body
        })
        return call(
          {
            path: "asample",
            body: HttpBody.text(json, "application/json"),
            headers: {
              "x-tinker-sampling-backpressure": "1",
              ...(profile.textSeeds && seed !== undefined ? { [Wire.seedHeader]: encodeURIComponent(seed) } : {})
            },
            repeatable: true,
            onBusy: pressure.slowDown(json.length)
          },
          decode
        )
      })
    )

  const sampleOne = Effect.fnUntraced(function* (sampler: Sampler, request: SampleRequest) {
    const room = Math.min(request.maxTokens, contextLength - request.prompt.length)
    if (room <= 0) return { sequences: Array.from({ length: request.n }, (): SampledSequence => unsampled) }
    const { sequences } = yield* ask(
      sampler,
      {
        num_samples: request.n,
        prompt: input(request.prompt),
        sampling_params: {
          max_tokens: room,
          temperature: request.temperature,
          top_k: request.topK ?? -1,
          top_p: request.topP,
          seed: numericSeed(request.seed),
          ...stopsOf(request.stop)
        },
        prompt_logprobs: false,
        topk_prompt_logprobs: 0
      },
      request.seed,
      readSamples(request.n, room)
    )
    return {
      sequences: sequences.map(({ logprobs, stop_reason, tokens }) => ({
        tokens,
        logprobs: logprobs ?? [],
        stopReason: stop_reason
      }))
    }
  })

  /** An empty list would ask to go on after the end of sequence. */
  const stopsOf = (stop: ReadonlyArray<string>): Pick<Wire.SamplingParams, "stop"> => {
    const stops =
      profile.stop === "texts" ? stop : [tokenizer.endOfSequence, ...stop.flatMap((text) => tokenizer.encode(text))]
    return stops.length === 0 ? {} : { stop: stops }
  }

  const referenceScores = Effect.fnUntraced(function* (sequences: ReadonlyArray<Sequence>) {
    switch (profile.reference) {
      case "model":
        reference ??= yield* createModel
        return yield* forward(reference, sequences)
      case "sampler": {
        baseSampler ??= {
          id: (yield* connection.post(
            post("create_sampling_session", {
              session_id: session,
              sampling_session_seq_id: samplerCount++,
              base_model: server.model
            }),
            Reply.json(Wire.SamplingSessionResponse)
          )).sampling_session_id,
          requests: 0
        }
        const sampler = baseSampler
        return yield* Effect.forEach(
          sequences,
          (sequence) =>
            Effect.map(
              ask(
                sampler,
                {
                  num_samples: 1,
                  prompt: input([...sequence.prompt, ...sequence.response]),
                  sampling_params: { max_tokens: 1, temperature: 1, top_k: -1, top_p: 1, seed: 0 },
                  prompt_logprobs: true,
                  topk_prompt_logprobs: 0
                },
                undefined,
                readPromptLogprobs(sequence)
              ),
              ({ prompt_logprobs }) =>
                Datums.ofResponse(
                  (prompt_logprobs ?? []).map((value) => value ?? NaN),
                  sequence
                )
            ),
          { concurrency: "unbounded" }
        )
      }
      case "none":
        return yield* new EngineError({
          operation: "score",
          reason: `a server of profile ${profile.name} gives no log-probabilities of its base model; set train.klCoefficient to 0`
        })
    }
  })

  const step = Effect.fnUntraced(function* (model: Live, request: TrainRequest, datums: ReadonlyArray<Wire.Datum>) {
    const { clipRatio } = request.loss
    const { beta1, beta2, epsilon = 1e-8, gradientClip, learningRate, weightDecay } = request.optimizer
    const waiting: Array<Effect.Effect<Wire.ForwardBackwardOutput, RequestFailure>> = []
    const outputs: Array<Wire.ForwardBackwardOutput> = []
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
      else outputs.push(yield* result)
    }
    const stepped = yield* connection.submit(
      next(model, "optim_step", {
        type: "optim_step",
        adam_params: {
          learning_rate: learningRate,
          beta1,
          beta2,
          eps: epsilon,
          weight_decay: weightDecay,
          grad_clip_norm: Number.isFinite(gradientClip) ? gradientClip : 0
        }
      }),
      Reply.json(Wire.OptimStepResponse)
    )
    for (const result of waiting) outputs.push(yield* result)
    const { metrics } = yield* stepped
    return Metrics.fromServer(metrics ?? {}) ?? Metrics.compute(request, outputs, metrics ?? {})
  })

  const engine: Engine.Interface = {
    profile: {
      name: `tinker/${profile.name}`,
      model: server.model,
      parameters: facts?.parameters ?? 0,
      contextLength,
      concurrency,
      streams: 16,
      stopTexts: facts?.single_token_stops === true ? "single-token" : "any",
      klInLoss: false,
      scoresReference: profile.reference !== "none",
      removesCheckpoints: profile.removes,
      deterministic: facts?.deterministic ?? false,
      fingerprint: facts?.fingerprint ?? `${profile.name}:${server.model}`
    },
    tokenizer,

    sample: Effect.fn("TinkerEngine.sample")(
      function* (requests) {
        const empty = requests.findIndex(({ prompt }) => prompt.length === 0)
        if (empty >= 0)
          return yield* new EngineError({
            operation: "sample",
            reason: `requests[${empty}].prompt.length is 0, expected at least 1`
          })
        if (requests.length === 0) return []
        const sampler = yield* alone(Effect.flatMap(sound("sample"), currentSampler))
        return yield* Effect.forEach(requests, (request) => sampleOne(sampler, request), { concurrency: "unbounded" })
      },
      Effect.mapError(fail("sample"))
    ),

    train: Effect.fn("TinkerEngine.train")(
      function* (request) {
        const model = yield* sound("train")
        const { entropyCoefficient = 0, klCoefficient } = request.loss
        if (klCoefficient !== 0 || entropyCoefficient !== 0)
          return yield* new EngineError({
            operation: "train",
            reason:
              `klCoefficient is ${klCoefficient} and entropyCoefficient ${entropyCoefficient}, expected 0: the protocol ` +
              "has no such terms in its loss; fold the KL term into the advantages with train.kl"
          })
        const problem = Datums.problem(request.datums)
        if (problem !== null)
          return yield* new EngineError({
            operation: "train",
            reason: `${problem}; nothing was sent to ${options.url}`
          })
        if (lastTraining?.key === request.key) return lastTraining.metrics
        const datums = Datums.training(request.datums, profile)
        if (datums.length === 0) return { loss: 0, kl: 0, clipFraction: 0, gradientNorm: 0, tokens: 0 }
        model.sampler = null
        model.broken = `the step ${request.key} did not come to its end`
        const metrics = yield* step(model, request, datums)
        model.broken = null
        lastTraining = { key: request.key, metrics }
        return metrics
      },
      Effect.mapError(fail("train")),
      alone
    ),

    score: Effect.fn("TinkerEngine.score")(
      function* (policy, sequences) {
        const model = yield* sound("score")
        const empty = sequences.findIndex(({ prompt, response }) => prompt.length === 0 && response.length > 0)
        if (empty >= 0)
          return yield* new EngineError({
            operation: "score",
            reason: `sequences[${empty}].prompt is empty, expected at least one token`
          })
        const answered = sequences.filter(({ response }) => response.length > 0)
        const scores = policy === "current" ? yield* forward(model, answered) : yield* referenceScores(answered)
        const rest = scores.values()
        return sequences.map(({ response }) => (response.length === 0 ? [] : (rest.next().value ?? [])))
      },
      Effect.mapError(fail("score")),
      alone
    ),

    save: Effect.fn("TinkerEngine.save")(
      function* (name) {
        const model = yield* sound("save")
        for (let attempt = 1; ; attempt++) {
          const path = attempt === 1 ? name : `${name}-${attempt}`
          const saved = yield* Effect.result(
            call(next(model, "save_weights", { type: "save_weights", path }, true), Reply.json(Wire.PathResponse))
          )
          if (Result.isSuccess(saved)) return { uri: saved.success.path, hash: saved.success.hash ?? "" }
          // A name may be taken: by an earlier run, or by this very request when its answer was lost.
          if (attempt >= mostNames || !/\bexist/iu.test(saved.failure.reason)) return yield* saved.failure
        }
      },
      Effect.mapError(fail("save")),
      alone
    ),

    restore: Effect.fn("TinkerEngine.restore")(
      function* ({ uri }, { optimizer = "saved" } = {}) {
        live.broken ??= "a checkpoint was being loaded"
        lastTraining = undefined
        if (!profile.manyModels) yield* unload(live)
        const model = yield* createModel.pipe(
          Effect.catchIf(
            ({ status }) => status === 404,
            // The server was started anew or let the session expire, and with it all that it held.
            () =>
              Effect.gen(function* () {
                session = yield* openSession
                reference = null
                baseSampler = null
                return yield* createModel
              })
          )
        )
        yield* call(
          next(model, "load_weights", { type: "load_weights", path: uri, optimizer: optimizer === "saved" }, true),
          Reply.json(Wire.LoadWeightsResponse)
        )
        if (profile.manyModels) yield* unload(live)
        live = model
      },
      Effect.mapError(fail("restore")),
      alone
    ),

    remove: ({ uri }) => {
      const [, model, kind, name] = /^tinker:\/\/([^/]+)\/([^/]+)\/([^/]+)$/u.exec(uri) ?? []
      if (!profile.removes || model === undefined || kind === undefined || name === undefined) return Effect.void
      return connection
        .remove(`training_runs/${encodeURIComponent(model)}/checkpoints/${kind}/${encodeURIComponent(name)}`)
        .pipe(
          Effect.catchIf(
            ({ status }) => status === 404,
            () => Effect.void
          ),
          Effect.mapError(fail("remove"))
        )
    }
  }
  return engine
})

const compress = promisify(zstdCompress)

const mostNames = 20

const nothing: Sequence = { prompt: [], response: [] }

/** What a request gets that has no room for a token. */
const unsampled: SampledSequence = { tokens: [], logprobs: [], stopReason: "length" }

const input = (tokens: ReadonlyArray<number>): Wire.ModelInput => ({ chunks: [{ type: "encoded_text", tokens }] })

/** The protocol's seeds are numbers; 31 bits are what all servers take. */
const numericSeed = (seed: string): number => createHash("sha256").update(seed).digest().readUInt32LE() >>> 1

const readSampler = Reply.json(Schema.Struct({ sampling_session_id: Schema.NonEmptyString }))

const decodeSamples = Reply.either(Protobuf.decodeSampleResponse, Reply.json(Wire.SampleResponse))

const readSamples = (count: number, most: number) =>
  Reply.check(decodeSamples, ({ sequences }) => {
    if (sequences.length !== count) return `${sequences.length} sequences, expected ${count}`
    for (const { logprobs, tokens } of sequences) {
      if (tokens.length > most) return `a sequence of ${tokens.length} tokens, expected at most ${most}`
      if (logprobs?.length !== tokens.length)
        return `${logprobs?.length ?? 0} log-probabilities of ${tokens.length} tokens`
      if (!logprobs.every(Number.isFinite)) return "a log-probability that is not a finite number"
    }
    return null
  })

const readPromptLogprobs = ({ prompt, response }: Sequence) =>
  Reply.check(decodeSamples, ({ prompt_logprobs }) => {
    // The first token has none: servers give null for it, or leave it out.
    const length = prompt.length + response.length
    if (prompt_logprobs?.length !== length && prompt_logprobs?.length !== length - 1)
      return `${prompt_logprobs?.length ?? 0} prompt log-probabilities, expected ${length}`
    return prompt_logprobs.slice(1 - length).every(Number.isFinite)
      ? null
      : "a log-probability that is not a finite number"
  })

const decodeLosses = Reply.either(Protobuf.decodeForwardBackwardOutput, Reply.json(Wire.ForwardBackwardOutput))

const readLosses = (data: ReadonlyArray<Wire.Datum>) =>
  Reply.check(decodeLosses, ({ loss_fn_outputs: outputs }) => {
    if (outputs.length !== data.length) return `outputs of ${outputs.length} datums, expected ${data.length}`
    for (const [index, datum] of data.entries()) {
      const expected = datum.loss_fn_inputs["target_tokens"]?.data.length
      const logprobs = outputs[index]?.["logprobs"]?.data
      if (logprobs?.length !== expected)
        return `${logprobs?.length ?? 0} log-probabilities of datum ${index}, expected ${expected}`
      if (!logprobs?.every(Number.isFinite)) return `a log-probability of datum ${index} that is not a finite number`
    }
    return null
  })

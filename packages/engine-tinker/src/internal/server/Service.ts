import { type CheckpointRef, type Datum, Engine, type EngineError, type SampleRequest } from "@inspo/engine"
import { Clock, Duration, Effect, Exit, Option, Random, Ref, Schedule, Scope } from "effect"
import type * as Wire from "../../Wire.ts"
import type { Catalog } from "../../Catalog.ts"
import * as Futures from "./Futures.ts"
import * as Losses from "./Losses.ts"
import { type Refusal, refuse } from "./Refusal.ts"
import * as RequestQueue from "./RequestQueue.ts"
import * as Residence from "./Residence.ts"
import * as SampleBatcher from "./SampleBatcher.ts"

/** One optimizer step that was made. */
export interface Update {
  readonly modelId: string
  readonly sequence: number | null
  readonly datums: number
}

export interface ServiceOptions {
  /** The name clients ask for. */
  readonly model: string
  readonly catalog: Catalog
  /** How long a request waits for one of a lower number that has not come. */
  readonly gapPatience: Duration.Input
  /** Settled futures kept for clients that ask again. */
  readonly retained: number
  /** How long a session lives that nothing is heard of. */
  readonly sessionPatience: Duration.Input
}

interface Model {
  readonly id: string
  readonly session: string
  readonly weights: Residence.Weights
  readonly enqueue: (job: RequestQueue.Job) => Effect.Effect<void>
  readonly scope: Scope.Closeable
  /** Gradients that wait for the optimizer's step. */
  pending: Array<Pending>
  /** Changes when the weights do. */
  version: number
}

interface Sampler {
  readonly session: string
  readonly source: SampleBatcher.Source
  readonly path: string | null
}

interface Pending {
  readonly clipRatio: number | null
  readonly datums: ReadonlyArray<Datum>
}

type Sequenced = { readonly model_id: string; readonly seq_id?: number | null }

/** What the endpoints do, without HTTP. */
export const make = Effect.fnUntraced(function* (options: ServiceOptions) {
  const engine = yield* Engine
  const scope = yield* Effect.scope
  const residence = yield* Residence.make(engine)
  const sampleOne = yield* SampleBatcher.make(residence)
  const nonce = yield* word
  const futures = Futures.make(nonce, options.retained)
  const ledger = yield* Ref.make<ReadonlyArray<Update>>([])
  /** When each session was last heard of, in milliseconds. */
  const sessions = new Map<string, number>()
  const models = new Map<string, Model>()
  const samplers = new Map<string, Sampler>()
  const baseSource: SampleBatcher.Source = { weights: residence.base, check: Effect.void }

  const known = <A>(map: ReadonlyMap<string, A>, kind: string, id: string): Effect.Effect<A, Refusal> => {
    const found = map.get(id)
    return found === undefined ? Effect.fail(refuse(`${kind} ${id} not found`, 404)) : Effect.succeed(found)
  }
  const heard = (id: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (sessions.has(id)) sessions.set(id, now)
    })
  const session = (id: string) => Effect.andThen(known(sessions, "Session", id), heard(id))
  const model = (id: string) => Effect.tap(known(models, "Model", id), ({ session }) => heard(session))
  const baseModel = (name: string) =>
    name === options.model
      ? Effect.void
      : Effect.fail(refuse(`base_model is ${name}, expected ${options.model}, the only one of this server`))

  /** A request of a model, carried out in the order of sequence numbers. */
  const sequenced = Effect.fnUntraced(function* (
    path: string,
    request: Sequenced,
    digest: string,
    work: (model: Model) => Effect.Effect<Futures.Outcome, Refusal | EngineError>
  ) {
    const owner = yield* model(request.model_id)
    const sequence = request.seq_id ?? null
    return yield* futures.submit({
      slot: sequence === null ? null : `${owner.id}#${sequence}`,
      digest: `${path} ${digest}`,
      once: true,
      begin: (settle) => owner.enqueue({ sequence, run: settle(Effect.mapError(work(owner), asRefusal)) })
    })
  })

  const createModel = Effect.fnUntraced(function* (request: typeof Wire.CreateModelRequest.Type, digest: string) {
    yield* session(request.session_id)
    yield* baseModel(request.base_model)
    const id = `${request.session_id}:train:${request.model_seq_id}`
    const own = yield* Scope.fork(scope)
    return yield* futures.submit({
      slot: id,
      digest,
      once: true,
      begin: (settle) =>
        Effect.gen(function* () {
          const enqueue = yield* Scope.provide(RequestQueue.make(options.gapPatience), own)
          const weights = { name: fileName(id), parked: null, dirty: false }
          models.set(id, {
            id,
            session: request.session_id,
            weights,
            enqueue,
            scope: own,
            pending: [],
            version: 0
          })
          yield* settle(Effect.succeed(json({ model_id: id, base_model: options.model, is_lora: false })))
        })
    })
  })

  const unloadModel = Effect.fnUntraced(function* (request: typeof Wire.ModelRequest.Type) {
    const owner = yield* model(request.model_id)
    return yield* futures.submit({
      slot: null,
      digest: "",
      once: false,
      begin: (settle) =>
        settle(Effect.mapBoth(free(owner), { onSuccess: () => json({ model_id: owner.id }), onFailure: asRefusal }))
    })
  })

  /** Ends a model: its requests, its samplers and what it parked. */
  const free = Effect.fnUntraced(function* (owner: Model) {
    models.delete(owner.id)
    for (const id of samplers.keys()) if (id.startsWith(`${owner.id}:`)) samplers.delete(id)
    yield* Scope.close(owner.scope, Exit.void)
    yield* residence.forget(owner.weights)
  })

  /** Ends the sessions that nothing was heard of for too long, with all that is theirs. */
  const expire = Effect.gen(function* () {
    const since = (yield* Clock.currentTimeMillis) - Duration.toMillis(options.sessionPatience)
    for (const [id, last] of sessions) {
      if (last > since) continue
      sessions.delete(id)
      for (const [name, { session }] of samplers) if (session === id) samplers.delete(name)
      for (const owner of [...models.values()].filter(({ session }) => session === id))
        yield* Effect.catchTag(free(owner), "EngineError", ({ message }) =>
          Effect.logWarning(`session ${id}: ${message}`)
        )
    }
  })
  yield* Effect.forkScoped(Effect.repeat(expire, Schedule.spaced("10 seconds")))

  /** An untouched model is the reference policy, for which no weights need to move. */
  const score = ({ version, weights }: Model, targets: ReadonlyArray<Losses.Target>) =>
    version === 0
      ? residence.alone(engine.score("reference", targets))
      : residence.using(weights, engine.score("current", targets))

  const forwardBackward = (
    path: string,
    request: Sequenced,
    input: Wire.LossInput,
    digest: string,
    keep: boolean
  ): Effect.Effect<string, Refusal> =>
    sequenced(path, request, digest, (owner) =>
      Effect.gen(function* () {
        const loss = yield* Losses.loss(input)
        const targets = yield* Effect.forEach(input.data, (datum, index) =>
          Losses.target(datum, input.loss_fn, `data[${index}]`)
        )
        const logprobs = yield* score(owner, targets)
        const parts = targets.map((target, index) => Losses.toDatum(target, loss, logprobs[index] ?? []))
        if (keep) owner.pending.push({ clipRatio: loss.clipRatio, datums: parts.map(({ datum }) => datum) })
        const whole = (index: number, values: ReadonlyArray<number>) =>
          tensor([...(targets[index]?.prompt ?? []).slice(1).map(() => 0), ...values])
        return {
          _tag: "Losses",
          value: {
            loss_fn_output_type: "scalar",
            loss_fn_outputs: parts.map(({ losses }, index) => ({
              elementwise_loss: whole(index, losses),
              logprobs: whole(index, logprobs[index] ?? [])
            })),
            metrics: { "loss:sum": parts.reduce((total, { losses }) => total + sum(losses), 0) }
          }
        }
      })
    )

  const optimStep = (request: typeof Wire.OptimStepRequest.Type, digest: string) =>
    sequenced("optim_step", request, digest, (owner) =>
      Effect.gen(function* () {
        const { adam_params: adam } = request
        const pending = owner.pending
        owner.pending = []
        const bounds = new Set(pending.flatMap(({ clipRatio }) => clipRatio ?? []))
        if (bounds.size > 1)
          return yield* refuse("the gradients of this step clip ratios differently, expected one loss config per step")
        const [clipRatio = Infinity] = bounds
        const datums = pending.flatMap((part) => part.datums)
        const clip = adam.grad_clip_norm ?? 0
        const metrics = yield* residence.using(
          owner.weights,
          Effect.suspend(() => {
            owner.version += 1
            owner.weights.dirty = true
            return engine.train({
              key: `${owner.id}#${request.seq_id ?? `v${owner.version}`}`,
              datums,
              loss: { clipRatio, klCoefficient: 0 },
              optimizer: {
                learningRate: adam.learning_rate ?? 1e-4,
                beta1: adam.beta1 ?? 0.9,
                beta2: adam.beta2 ?? 0.95,
                weightDecay: adam.weight_decay ?? 0,
                gradientClip: clip > 0 ? clip : Infinity
              }
            })
          })
        )
        yield* Ref.update(ledger, (updates) => [
          ...updates,
          { modelId: owner.id, sequence: request.seq_id ?? null, datums: datums.length }
        ])
        return json({
          metrics: {
            "inspo.ai/loss": metrics.loss,
            "inspo.ai/kl": metrics.kl,
            "inspo.ai/clip_fraction": metrics.clipFraction,
            "inspo.ai/gradient_norm": metrics.gradientNorm,
            "inspo.ai/tokens": metrics.tokens
          }
        })
      })
    )

  /** Writes the weights of a model under a path of their own. */
  const save = Effect.fnUntraced(function* (owner: Model, kind: Kind, name: string, overwrite: boolean) {
    if (!/^\w[\w.-]*$/u.test(name))
      return yield* refuse(`path is ${JSON.stringify(name)}, expected letters, digits, "_", "-" and "."`)
    const path = `tinker://${owner.id}/${kind}/${name}`
    if (!overwrite && (yield* options.catalog.get(path)) !== undefined)
      return yield* refuse(`Checkpoint ${path} exists`, 409)
    const ref = yield* residence.using(owner.weights, engine.save(`${fileName(owner.id)}.${kind}.${name}`))
    yield* options.catalog.put(path, ref)
    return { path, ref }
  })

  const checkpoint = Effect.fnUntraced(function* (path: string): Effect.fn.Return<CheckpointRef, Refusal> {
    const found = yield* options.catalog.get(path)
    return found ?? (yield* refuse(`Checkpoint ${path} not found`, 404))
  })

  const saveWeights = Effect.fnUntraced(function* (request: typeof Wire.SaveWeightsRequest.Type, digest: string) {
    return yield* sequenced("save_weights", request, digest, (owner) =>
      Effect.map(
        save(owner, "weights", request.path ?? `seq-${request.seq_id ?? owner.version}`, request.overwrite ?? false),
        ({ path, ref }) => json({ path, hash: ref.hash, type: "save_weights" })
      )
    )
  })

  const loadWeights = (request: typeof Wire.LoadWeightsRequest.Type, digest: string) =>
    sequenced("load_weights", request, digest, (owner) =>
      Effect.gen(function* () {
        const ref = yield* checkpoint(request.path)
        owner.version += 1
        owner.pending = []
        yield* residence.load(owner.weights, ref)
        return json({ path: request.path, type: "load_weights" })
      })
    )

  const saveForSampler = (request: typeof Wire.SaveWeightsForSamplerRequest.Type, digest: string) =>
    sequenced("save_weights_for_sampler", request, digest, (owner) =>
      Effect.gen(function* () {
        const named = request.path ?? null
        if (named !== null) {
          const { path } = yield* save(owner, "sampler_weights", named, false)
          return json({ path, type: "save_weights_for_sampler" })
        }
        const { version } = owner
        const id = `${owner.id}:sampler:${request.sampling_session_seq_id ?? request.seq_id ?? version}`
        samplers.set(id, {
          session: owner.session,
          path: null,
          source: {
            weights: version === 0 ? residence.base : owner.weights,
            check: Effect.suspend(() =>
              owner.version === version
                ? Effect.void
                : Effect.fail(
                    refuse(`Sampler ${id} is stale: its model was trained since; save its weights again`, 410)
                  )
            )
          }
        })
        return json({ path: null, type: "save_weights_for_sampler", sampling_session_id: id })
      })
    )

  const sourceOf = Effect.fnUntraced(function* (path: string | null | undefined, base: string | null | undefined) {
    if (path !== null && path !== undefined) {
      const parked = yield* checkpoint(path)
      return { weights: { name: "path", parked, dirty: false }, check: Effect.void }
    }
    if (base === null || base === undefined)
      return yield* refuse("none of sampling_session_id, model_path and base_model is given, expected one")
    yield* baseModel(base)
    return baseSource
  })

  const createSamplingSession = Effect.fnUntraced(function* (request: typeof Wire.CreateSamplingSessionRequest.Type) {
    yield* session(request.session_id)
    const id = `${request.session_id}:sample:${request.sampling_session_seq_id}`
    if (!samplers.has(id)) {
      const source = yield* sourceOf(request.model_path, request.base_model)
      samplers.set(id, { session: request.session_id, source, path: request.model_path ?? null })
    }
    return { sampling_session_id: id }
  })

  const sampler = Effect.fnUntraced(function* (id: string) {
    const { path } = yield* known(samplers, "Sampler", id)
    return { sampler_id: id, base_model: options.model, model_path: path }
  })

  /** `seed` is the text of the engine's own seeds, for clients that know it. */
  const asample = Effect.fnUntraced(function* (
    request: Wire.SampleRequest,
    seed: Option.Option<string>,
    digest: string
  ) {
    const sessionId = request.sampling_session_id ?? null
    const source =
      sessionId === null
        ? yield* sourceOf(request.model_path, request.base_model)
        : (yield* Effect.tap(known(samplers, "Sampler", sessionId), ({ session }) => heard(session))).source
    const sampleRequest = yield* toSampleRequest(request, seed)
    return yield* futures.submit({
      slot: sessionId === null || typeof request.seq_id !== "number" ? null : `${sessionId}#${request.seq_id}`,
      digest: `${Option.getOrElse(seed, () => "")} ${digest}`,
      once: false,
      begin: (settle) =>
        settle(Effect.mapError(sampled(source, sampleRequest, request.prompt_logprobs ?? false), asRefusal)).pipe(
          Effect.forkIn(scope),
          Effect.asVoid
        )
    })
  })

  const sampled = Effect.fnUntraced(function* (
    source: SampleBatcher.Source,
    request: SampleRequest,
    promptLogprobs: boolean
  ) {
    const { sequences } = yield* sampleOne(source, request)
    const [first, ...rest] = request.prompt
    const sequence = { prompt: first === undefined ? [] : [first], response: rest }
    const scored = promptLogprobs
      ? yield* residence.using(
          source.weights,
          engine.score(source === baseSource ? "reference" : "current", [sequence])
        )
      : undefined
    return {
      _tag: "Samples",
      value: {
        sequences: sequences.map(({ logprobs, stopReason, tokens }) => ({ stop_reason: stopReason, tokens, logprobs })),
        prompt_logprobs: scored === undefined ? null : [null, ...(scored[0] ?? [])]
      }
    } satisfies Futures.Outcome
  })

  const toSampleRequest = Effect.fnUntraced(function* (
    { num_samples, prompt, sampling_params: params }: Wire.SampleRequest,
    seed: Option.Option<string>
  ): Effect.fn.Return<SampleRequest, Refusal> {
    const topK = params.top_k ?? -1
    if (topK > 0) return yield* refuse(`sampling_params.top_k is ${topK}, expected -1: this engine has no top-k`)
    const tokens = prompt.chunks.flatMap((chunk) => chunk.tokens)
    const stop = params.stop ?? []
    return {
      prompt: tokens,
      n: num_samples ?? 1,
      stop: (typeof stop === "string" ? [stop] : stop).flatMap((one) =>
        typeof one === "string" ? [one] : one === engine.tokenizer.endOfSequence ? [] : [engine.tokenizer.decode([one])]
      ),
      maxTokens: params.max_tokens ?? Math.max(0, engine.profile.contextLength - tokens.length),
      temperature: params.temperature ?? 1,
      topP: params.top_p ?? 1,
      seed: seed._tag === "Some" ? seed.value : typeof params.seed === "number" ? String(params.seed) : yield* word
    }
  })

  const removeCheckpoint = Effect.fnUntraced(function* (modelId: string, kind: string, name: string) {
    const path = `tinker://${modelId}/${kind}/${name}`
    const ref = yield* checkpoint(path)
    yield* options.catalog.remove(path)
    yield* Effect.mapError(engine.remove(ref), asRefusal)
  })

  return {
    ledger: Ref.get(ledger),
    retrieve: futures.retrieve,
    capabilities: {
      supported_models: [
        {
          model_name: options.model,
          max_context_length: engine.profile.contextLength,
          inspo: {
            parameters: engine.profile.parameters,
            concurrency: engine.profile.concurrency,
            deterministic: engine.profile.deterministic,
            single_token_stops: engine.profile.stopTexts === "single-token",
            fingerprint: engine.profile.fingerprint
          }
        }
      ]
    } satisfies Wire.Capabilities,
    createSession: Effect.gen(function* () {
      const id = `session_${yield* word}`
      sessions.set(id, yield* Clock.currentTimeMillis)
      return { type: "create_session", session_id: id }
    }),
    heartbeat: ({ session_id }: typeof Wire.HeartbeatRequest.Type) =>
      Effect.as(session(session_id), { type: "session_heartbeat" }),
    createModel,
    unloadModel,
    info: ({ model_id }: typeof Wire.ModelRequest.Type) =>
      Effect.as(model(model_id), {
        type: "get_info",
        model_id,
        model_data: { arch: engine.profile.model, model_name: options.model, tokenizer_id: options.model },
        is_lora: false,
        model_name: options.model
      }),
    weightsInfo: ({ tinker_path }: typeof Wire.WeightsInfoRequest.Type) =>
      Effect.as(checkpoint(tinker_path), { base_model: options.model, is_lora: false }),
    forward: (request: typeof Wire.ForwardRequest.Type, digest: string) =>
      forwardBackward("forward", request, request.forward_input, digest, false),
    forwardBackward: (request: typeof Wire.ForwardBackwardRequest.Type, digest: string) =>
      forwardBackward("forward_backward", request, request.forward_backward_input, digest, true),
    optimStep,
    saveWeights,
    loadWeights,
    saveForSampler,
    createSamplingSession,
    sampler,
    asample,
    removeCheckpoint
  }
})

type Kind = "weights" | "sampler_weights"

/** 16 hexadecimal digits. */
const word = Effect.map(
  Effect.all([Random.nextIntBetween(0, 0xffffffff), Random.nextIntBetween(0, 0xffffffff)]),
  (halves) => halves.map((half) => half.toString(16).padStart(8, "0")).join("")
)

const json = (value: object): Futures.Outcome => ({ _tag: "Json", value })

const tensor = (data: ReadonlyArray<number>): Wire.TensorData => ({ data, dtype: "float32", shape: [data.length] })

const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)

/** A model id as engines take names of checkpoints. */
const fileName = (id: string): string => id.replaceAll(":", ".")

const asRefusal = (error: Refusal | EngineError): Refusal => (error._tag === "Refusal" ? error : refuse(error.message))

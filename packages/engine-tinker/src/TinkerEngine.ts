import { Engine, EngineError, type Sequence, type Tokenizer, type TrainMetrics } from "@inspo/engine"
import { Array as Arr, Duration, Effect, Layer, type Redacted, Result, type Scope, Semaphore } from "effect"
import { HttpClient } from "effect/http"
import * as Connection from "./internal/client/Connection.ts"
import * as Datums from "./internal/client/Datums.ts"
import { type Model, next } from "./internal/client/Model.ts"
import * as Models from "./internal/client/Models.ts"
import * as Reply from "./internal/client/Reply.ts"
import type { RequestFailure } from "./internal/client/RequestFailure.ts"
import { readSampler } from "./internal/client/Results.ts"
import * as Sampling from "./internal/client/Sampling.ts"
import * as Server from "./internal/client/Server.ts"
import * as Training from "./internal/client/Training.ts"
import * as ModelNotes from "./ModelNotes.ts"
import type { ProfileName } from "./Profile.ts"
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
  /** How long the server may be out of reach, or ask to be left alone; 5 minutes when absent. */
  readonly patience?: Duration.Input | undefined
  /**
   * How long one answer may take; 60 seconds when absent. Null leaves that to the HTTP client, which saves a fiber per
   * request where the client has a limit of its own.
   */
  readonly answerWithin?: Duration.Input | null | undefined
  /** Where to remember the models that are held on the server; nowhere when absent. */
  readonly notes?: ModelNotes.ModelNotes | undefined
  /** What these options are called where a user sets them, for messages; as here when absent. */
  readonly names?: Partial<Server.OptionNames> | undefined
}

/**
 * An engine behind a server of the Tinker protocol: hosted Tinker, SkyRL, verl-tinker or `inspo engine serve`.
 *
 * Every request is tried again as long as that cannot do a thing twice. When it is unknown whether a gradient or a step was
 * done and the server would not notice a repetition, the engine fails and takes nothing but `restore` any more: it loads a
 * checkpoint into a new model, which leaves doubtful gradients behind.
 *
 * The model that is trained is unloaded with the layer's scope, and by `notes` also that of a client that was killed. What
 * is waited for stands in the log.
 *
 * The protocol has no KL term in its loss, so `train` refuses one. The key is never part of an error or a log.
 */
export const layer = (options: TinkerEngineOptions): Layer.Layer<Engine, EngineError, HttpClient.HttpClient> =>
  Layer.effect(Engine, make(options))

const make = Effect.fn("TinkerEngine.make")(function* (
  options: TinkerEngineOptions
): Effect.fn.Return<Engine.Interface, EngineError, HttpClient.HttpClient | Scope.Scope> {
  const client = yield* HttpClient.HttpClient
  const { tokenizer, url } = options
  const names = { ...ownNames, ...options.names }
  const connect = (protobuf: boolean, patience: Duration.Input) =>
    Connection.make(client, {
      url,
      apiKey: options.apiKey ?? null,
      patience,
      protobuf,
      answerWithin: options.answerWithin === undefined ? "60 seconds" : options.answerWithin
    })
  const patience = Duration.fromInputUnsafe(options.patience ?? "5 minutes")
  const hasty = connect(false, Duration.min(patience, Duration.seconds(5)))
  const server = yield* Server.probe(
    hasty,
    { url, profile: options.profile ?? "auto", model: options.model ?? null },
    names
  )
  const { facts, profile } = server
  const encoding = options.encoding ?? "auto"
  const protobuf = encoding === "auto" ? profile.protobuf : encoding === "protobuf"
  const connection = connect(protobuf, patience)
  const contextLength = options.contextLength ?? server.contextLength
  if (contextLength === undefined)
    return yield* new EngineError({
      operation: "start",
      reason: `${url} does not tell the context length of ${server.model}; set ${names.contextLength}`
    })
  const concurrency = options.concurrency ?? facts?.concurrency ?? 512

  const fail =
    (operation: EngineError["operation"], hint = "") =>
    (error: RequestFailure | EngineError) =>
      error._tag === "EngineError"
        ? error
        : new EngineError({ operation, reason: `${url} (${profile.name}): ${error.message}${hint}`, cause: error })

  const rank = options.loraRank ?? 32
  const models = yield* Models.make({
    connection,
    hasty,
    server,
    url,
    rank,
    notes: options.notes ?? ModelNotes.none
  }).pipe(Effect.mapError(fail("start")))
  const sampling = yield* Sampling.make({ connection, profile, tokenizer, contextLength, concurrency })
  const training = Training.make(connection, server, protobuf)

  let live = yield* Effect.mapError(models.create, (error) =>
    fail("start", profile.lora && /\brank\b/iu.test(error.reason) ? `; ${names.loraRank} is ${rank}` : "")(error)
  )
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
              reason: `the weights on ${url} are in doubt (${live.broken}); restore a checkpoint, as resuming the run does`
            })
          )
    )

  const currentSampler = Effect.fnUntraced(function* (model: Model) {
    if (model.sampler !== null) return model.sampler
    const number = yield* models.nextSampler
    const { sampling_session_id: id } = yield* connection.call(
      next(
        model,
        "save_weights_for_sampler",
        { type: "save_weights_for_sampler", sampling_session_seq_id: number },
        true
      ),
      readSampler
    )
    model.sampler = { id, requests: 0 }
    return model.sampler
  })

  const scoreReference = Effect.fnUntraced(function* (sequences: ReadonlyArray<Sequence>) {
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

  /** Puts a new model in the place of the one that is trained; there are never two. */
  const replace = Effect.gen(function* () {
    yield* models.release(live)
    live = yield* Effect.catchIf(
      models.create,
      (failure) => failure._tag === "RequestFailure" && failure.status === 404,
      // The server was started anew or let the session expire.
      () => Effect.andThen(models.startOver, models.create)
    )
  })

  const load = Effect.fnUntraced(function* (path: string, optimizer: boolean) {
    live.broken = "a checkpoint was being loaded"
    yield* connection.call(
      next(live, "load_weights", { type: "load_weights", path, optimizer }, true),
      Reply.json(Wire.LoadWeightsResponse)
    )
    live.broken = null
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
        return yield* Effect.forEach(requests, (request) => sampling.sample(sampler, request), {
          concurrency: "unbounded"
        })
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
              "has no such terms in its loss; a KL term can be folded into the advantages"
          })
        const problem = Datums.problem(request.datums)
        if (problem !== null)
          return yield* new EngineError({
            operation: "train",
            reason: `${problem}; nothing was sent to ${url}`
          })
        if (lastTraining?.key === request.key) return lastTraining.metrics
        const datums = Datums.training(request.datums, profile)
        if (datums.length === 0) return { loss: 0, kl: 0, clipFraction: 0, gradientNorm: 0, tokens: 0 }
        model.sampler = null
        model.broken = `the step ${request.key} did not come to its end`
        const metrics = yield* training.step(model, request, datums)
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
        const scores = yield* policy === "current" ? training.score(model, answered) : scoreReference(answered)
        const scored = new Map(Arr.zip(answered, scores))
        return sequences.map((sequence) => scored.get(sequence) ?? [])
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
            connection.call(
              next(model, "save_weights", { type: "save_weights", path }, true),
              Reply.json(Wire.PathResponse)
            )
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
        lastTraining = undefined
        // A model that nothing was done to is as good as a new one, unless the server has lost it.
        const isFresh = live.sequence === 0 && live.broken === null
        live.broken ??= "a checkpoint was being loaded"
        if (!isFresh) yield* replace
        const loading = Effect.suspend(() => load(uri, optimizer === "saved"))
        yield* Effect.catchIf(
          loading,
          ({ status }) => isFresh && status === 404,
          () => Effect.andThen(replace, loading)
        )
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

const mostNames = 20

const ownNames: Server.OptionNames = {
  url: "url",
  model: "model",
  profile: "profile",
  contextLength: "contextLength",
  loraRank: "loraRank"
}

import { randomInt } from "node:crypto"
import { Engine, EngineError, type SampleRequest, type Tokenizer } from "@inspo/engine"
import { Effect, Layer, type Scope, Semaphore } from "effect"
import type { HttpClient } from "effect/http"
import * as Checkpoints from "./internal/client/Checkpoints.ts"
import type { Sampler } from "./internal/client/Model.ts"
import * as Models from "./internal/client/Models.ts"
import * as Sampling from "./internal/client/Sampling.ts"
import * as Start from "./internal/client/Start.ts"
import * as TrainedModel from "./internal/client/TrainedModel.ts"
import * as Training from "./internal/client/Training.ts"
import * as ModelNotes from "./ModelNotes.ts"

export interface TinkerEngineOptions extends Start.StartOptions {
  /** Text and tokens of the model. */
  readonly tokenizer: Tokenizer
  /** Rank of the LoRA adapter where the server trains one; 0 asks for all parameters. 32 when absent. */
  readonly loraRank?: number | null | undefined
  /** Where to remember the models that are held on the server; nowhere when absent. */
  readonly notes?: ModelNotes.ModelNotes | undefined
}

/**
 * An engine behind a server of the Tinker protocol: hosted Tinker, SkyRL, verl-tinker or `inspo engine serve`.
 *
 * Every request is tried again as long as that cannot do a thing twice. When it is unknown whether a gradient or a step was
 * done and the server would not notice a repetition, the engine fails and takes nothing but `restore` any more: it loads a
 * checkpoint into a new model, which leaves doubtful gradients behind.
 *
 * The model that is trained is unloaded with the layer's scope, and by `notes` also that of a client that was killed. What
 * is waited for is in the log.
 *
 * The protocol has no KL term in its loss, so `train` refuses one. The key is never part of an error or a log.
 */
export const layer = (options: TinkerEngineOptions): Layer.Layer<Engine, EngineError, HttpClient.HttpClient> =>
  Layer.effect(Engine, make(options))

/**
 * The engine of a process beside the one that trains. It makes no model on the server: each of its requests has the `sampler` that
 * the engine of the other process names. It refuses everything but `sample`.
 */
export const layerSampler = (
  options: Omit<TinkerEngineOptions, "loraRank" | "notes">
): Layer.Layer<Engine, EngineError, HttpClient.HttpClient> => Layer.effect(Engine, makeSampler(options))

const make = Effect.fn("TinkerEngine.make")(function* (
  options: TinkerEngineOptions
): Effect.fn.Return<Engine.Interface, EngineError, HttpClient.HttpClient | Scope.Scope> {
  const { tokenizer, url } = options
  const start = yield* Start.make(options)
  const { concurrency, connection, contextLength, fail, names, server } = start
  const { profile } = server
  const rank = options.loraRank ?? 32
  const models = yield* Effect.mapError(
    Models.make({ ...start, url, rank, notes: options.notes ?? ModelNotes.none }),
    fail("start")
  )
  const sampling = yield* Sampling.make({ connection, profile, tokenizer, contextLength, concurrency })
  const training = Training.make(connection, server, start.protobuf)
  const trained = yield* Effect.mapError(TrainedModel.make(connection, models, url), (error) =>
    fail("start", profile.lora && /\brank\b/iu.test(error.reason) ? `; ${names.loraRank} is ${rank}` : "")(error)
  )
  const steps = yield* Training.steps(trained, training, profile, url)
  const scoring = Training.scoring({ models, profile, sampling, trained, training })
  const checkpoints = Checkpoints.make(connection, profile)
  // Requests of a model leave one after the other, in the order of their numbers.
  const alone = Semaphore.withPermit(yield* Semaphore.make(1))

  return {
    profile: Start.profileOf(start),
    tokenizer,
    sampler: Effect.mapBoth(alone(trained.sampler), { onSuccess: ({ id }) => id, onFailure: fail("sample") }),

    sample: Effect.fn("TinkerEngine.sample")(
      function* (requests) {
        yield* checkPrompts(requests)
        if (requests.length === 0) return []
        const sampler = yield* alone(trained.sampler)
        return yield* Effect.forEach(requests, (request) => sampling.sample(sampler, request), {
          concurrency: "unbounded"
        })
      },
      Effect.mapError(fail("sample"))
    ),

    train: Effect.fn("TinkerEngine.train")(steps.train, Effect.mapError(fail("train")), alone),

    score: Effect.fn("TinkerEngine.score")(scoring, Effect.mapError(fail("score")), alone),

    save: Effect.fn("TinkerEngine.save")(
      function* (name) {
        return yield* checkpoints.save(yield* trained.sound("save"), name)
      },
      Effect.mapError(fail("save")),
      alone
    ),

    restore: Effect.fn("TinkerEngine.restore")(
      function* ({ uri }, { optimizer = "saved" } = {}) {
        yield* steps.forget
        yield* trained.load(uri, optimizer === "saved")
      },
      Effect.mapError(fail("restore")),
      alone
    ),

    remove: ({ uri }) => Effect.mapError(checkpoints.remove(uri), fail("remove"))
  }
})

const makeSampler = Effect.fn("TinkerEngine.makeSampler")(function* (
  options: TinkerEngineOptions
): Effect.fn.Return<Engine.Interface, EngineError, HttpClient.HttpClient> {
  const { tokenizer, url } = options
  const start = yield* Start.make(options)
  const { profile } = start.server
  const sampling = yield* Sampling.make({ ...start, profile, tokenizer })
  const samplers = new Map<string, Sampler>()
  const samplerOf = (id: string): Sampler => {
    // No other process that samples from the same weights gives its requests these numbers.
    const sampler = samplers.get(id) ?? { id, requests: randomInt(2 ** 32) * 2 ** 20 }
    samplers.set(id, sampler)
    return sampler
  }
  const refuse = (operation: EngineError["operation"]) => () =>
    Effect.fail(new EngineError({ operation, reason: `this process only samples from ${url}` }))
  return {
    profile: { ...Start.profileOf(start), trains: false },
    tokenizer,
    sample: Effect.fn("TinkerEngine.sample")(
      function* (requests) {
        yield* checkPrompts(requests)
        const sample = (request: SampleRequest) => sampling.sample(samplerOf(request.sampler ?? "none"), request)
        return yield* Effect.forEach(requests, sample, { concurrency: "unbounded" })
      },
      Effect.mapError(start.fail("sample"))
    ),
    train: refuse("train"),
    score: refuse("score"),
    save: refuse("save"),
    restore: refuse("restore"),
    remove: refuse("remove")
  }
})

const checkPrompts = (requests: ReadonlyArray<SampleRequest>): Effect.Effect<void, EngineError> => {
  const empty = requests.findIndex(({ prompt }) => prompt.length === 0)
  return empty < 0
    ? Effect.void
    : Effect.fail(
        new EngineError({ operation: "sample", reason: `requests[${empty}].prompt.length is 0, expected at least 1` })
      )
}

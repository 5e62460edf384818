import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type { RunConfig } from "@inspo/coevolution"
import { Engine, EngineError } from "@inspo/engine"
import * as ModelFolder from "@inspo/engine-local/ModelFolder"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import * as TinkerEngine from "@inspo/engine-tinker/TinkerEngine"
import { Config, Effect, Layer } from "effect"

/** Where an engine is served, and what its server cannot tell. */
export type RemoteConfig = Omit<RunConfig["engine"], "url" | "workers"> & { readonly url: string }

/**
 * The engine of a server. Its tokenizer is read from `tokenizer`; only `inspo engine serve` may do without one, since its
 * model is an embedded one.
 */
export const layer = (config: RemoteConfig) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const folder = config.tokenizer ?? config.model ?? ModelFolder.shipped
      const tokenizer = yield* Effect.mapError(HuggingFaceTokenizer.read(folder), ({ message }) => start(message))
      const apiKey = config.apiKeyEnv === null ? null : yield* key(config.apiKeyEnv)
      const { baseModel, concurrency, contextLength, encoding, loraRank, profile, url } = config
      const engine = TinkerEngine.layer({
        url,
        tokenizer,
        apiKey,
        model: baseModel,
        profile,
        encoding,
        contextLength,
        loraRank,
        concurrency
      })
      return config.tokenizer === null ? onlyEmbedded(engine, url) : engine
    })
  ).pipe(Layer.provide(NodeHttpClient.layerUndici))

const onlyEmbedded = <R>(engine: Layer.Layer<Engine, EngineError, R>, url: string) =>
  Layer.effect(
    Engine,
    Engine.pipe(
      Effect.filterOrFail(
        ({ profile }) => profile.name === "tinker/inspo",
        () => start(`engine.tokenizer is null, expected the folder with the tokenizer.json of the model at ${url}`)
      )
    )
  ).pipe(Layer.provide(engine))

const key = (variable: string) =>
  Effect.mapError(Config.Redacted(variable), () =>
    start(`engine.apiKeyEnv is ${variable}, which the environment does not hold; set it to the server's key`)
  )

const start = (reason: string) => new EngineError({ operation: "start", reason })

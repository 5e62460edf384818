import type { RunConfig } from "@inspo/config"
import { Engine, EngineError } from "@inspo/engine"
import * as CompletionsEngine from "@inspo/engine-completions"
import { ModelFolder } from "@inspo/engine-local"
import type { ModelNotes } from "@inspo/engine-tinker"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import * as TinkerEngine from "@inspo/engine-tinker"
import { Effect, Layer } from "effect"
import * as Secret from "../config/Secret.ts"
import * as PooledHttpClient from "./PooledHttpClient.ts"

/** What error messages call the parts of a config: the settings of a run, or the flags of a command. */
export interface Names
  extends CompletionsEngine.OptionNames, Required<NonNullable<TinkerEngine.TinkerEngineOptions["names"]>> {
  readonly tokenizer: string
}

export const settings: Names = {
  url: "engine.url",
  model: "engine.model",
  profile: "engine.profile",
  tokenizer: "engine.tokenizer",
  contextLength: "engine.contextLength",
  loraRank: "engine.loraRank",
  apiKey: "keys.engine"
}

export interface RemoteOptions {
  readonly names: Names
  readonly encoding?: Encoding
  /** Whether another process trains, and this one only samples. */
  readonly isBeside?: boolean
  /** Where the models that are held on a server are recorded. */
  readonly notes?: ModelNotes.ModelNotes | undefined
}

/** Where an engine is served, and what its server cannot report. */
export type RemoteConfig = Omit<RunConfig["engine"], "url"> & {
  readonly url: string
  /** The environment variable with the server's key. */
  readonly key: string | null
}

/** How samples and gradients are encoded; `auto` is protobuf where the server accepts it. */
export type Encoding = "auto" | "json" | "protobuf"

/** The engine of a server, with the tokenizer of `tokenizer`; only `inspo engine serve` needs none: its model is the embedded one. */
export const layer = (config: RemoteConfig, options: RemoteOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const folder = config.tokenizer ?? ModelFolder.shipped
      const { date } = config
      const tokenizer = yield* Effect.mapError(HuggingFaceTokenizer.read(folder, { date }), (error) =>
        start(`${error.message}${date === null ? "; set engine.date" : ""}`, error)
      )
      const { key, profile } = config
      const apiKey =
        key === null ? null : yield* Secret.fromEnvironment(key, options.names.apiKey, "the server's key", start)
      const { concurrency, contextLength, loraRank, model, url } = config
      const server = { url, tokenizer, apiKey, model, contextLength, concurrency }
      const engine =
        profile === "completions"
          ? CompletionsEngine.layer({ ...server, names: options.names })
          : options.isBeside === true
            ? TinkerEngine.layerSampler({ ...options, ...server, profile, answerWithin: null })
            : TinkerEngine.layer({ ...options, ...server, profile, loraRank, answerWithin: null })
      return config.tokenizer === null ? onlyEmbedded(engine, config.url, options.names) : engine
    })
  ).pipe(Layer.provide(PooledHttpClient.layer(config.profile === "completions" ? silence.completions : silence.tinker)))

/** Results of the Tinker protocol are polled; completions arrive when they are done. */
const silence = { tinker: "60 seconds", completions: "10 minutes" } as const

const onlyEmbedded = <R>(engine: Layer.Layer<Engine, EngineError, R>, url: string, names: Names) => {
  const refusal = `${names.tokenizer} is not set, expected the folder with the tokenizer.json of the model at ${url}, or its GGUF file`
  const embedded = Effect.filterOrFail(
    Engine,
    ({ profile }) => profile.name.endsWith("/inspo"),
    () => start(refusal)
  )
  return Layer.effect(Engine, embedded).pipe(Layer.provide(engine))
}

const start = (reason: string, cause?: unknown) =>
  new EngineError({ operation: "start", reason, ...(cause === undefined ? {} : { cause }) })

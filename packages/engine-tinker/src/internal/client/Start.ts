import { EngineError, type EngineProfile } from "@inspo/engine"
import { profileOf as profileFrom } from "@inspo/engine/Wire"
import { Duration, Effect, type Redacted } from "effect"
import { HttpClient } from "effect/http"
import type { ProfileName } from "../../Profile.ts"
import * as Connection from "./Connection.ts"
import { isNotFinite, type RequestFailure } from "./RequestFailure.ts"
import * as Server from "./Server.ts"

/** Where the server is, and what it is where it does not say. */
export interface StartOptions {
  /** Base URL of the server, to which `/api/v1/…` is added. */
  readonly url: string
  /** The base model to train; the first that the server supports when absent. */
  readonly model?: string | null | undefined
  readonly apiKey?: Redacted.Redacted | null | undefined
  /** Which server it is; asked of the server when absent. */
  readonly profile?: ProfileName | undefined
  /** How samples and gradients travel; protobuf where the server takes it when absent. */
  readonly encoding?: "auto" | "json" | "protobuf" | undefined
  /** Tokens of prompt and response together; as the server says when absent. */
  readonly contextLength?: number | null | undefined
  /** Sequences in flight at once; as the server says, or 512, when absent. */
  readonly concurrency?: number | null | undefined
  /** How long the server may be out of reach, or ask to be left alone; 5 minutes when absent. */
  readonly retryBudget?: Duration.Input | undefined
  /** How long one answer may take; 60 seconds when absent. Null leaves that to the HTTP client, which saves a fiber per request. */
  readonly answerWithin?: Duration.Input | null | undefined
  /** What these options are called where a user sets them, for messages; as here when absent. */
  readonly names?: Partial<Server.OptionNames> | undefined
}

/** What is known of a server before anything is held on it. */
interface Start {
  readonly connection: Connection.Connection
  /** With less retryBudget. */
  readonly hasty: Connection.Connection
  readonly server: Server.Server
  readonly protobuf: boolean
  readonly contextLength: number
  readonly concurrency: number
  readonly names: Server.OptionNames
  /** Turns a failed request into a failure of the engine, with a hint at its end. */
  readonly fail: (
    operation: EngineError["operation"],
    hint?: string
  ) => (error: RequestFailure | EngineError) => EngineError
}

/** Asks the server what it is; options settle what it does not say. */
export const make = Effect.fnUntraced(function* (
  options: StartOptions
): Effect.fn.Return<Start, EngineError, HttpClient.HttpClient> {
  const client = yield* HttpClient.HttpClient
  const { url } = options
  const names = { ...ownNames, ...options.names }
  const connect = (protobuf: boolean, retryBudget: Duration.Input) =>
    Connection.make(client, {
      url,
      apiKey: options.apiKey ?? null,
      retryBudget,
      protobuf,
      answerWithin: options.answerWithin === undefined ? "60 seconds" : options.answerWithin
    })
  const retryBudget = Duration.fromInputUnsafe(options.retryBudget ?? "5 minutes")
  const hasty = connect(false, Duration.min(retryBudget, Duration.seconds(5)))
  const server = yield* Server.probe(
    hasty,
    { url, profile: options.profile ?? "auto", model: options.model ?? null },
    names
  )
  const { facts, profile } = server
  const encoding = options.encoding ?? "auto"
  const protobuf = encoding === "auto" ? profile.protobuf : encoding === "protobuf"
  const contextLength = options.contextLength ?? server.contextLength
  if (contextLength === undefined)
    return yield* new EngineError({
      operation: "start",
      reason: `${url} does not state the context length of ${server.model}; set ${names.contextLength}`
    })
  return {
    connection: connect(protobuf, retryBudget),
    hasty,
    server,
    protobuf,
    contextLength,
    concurrency: options.concurrency ?? facts?.concurrency ?? 512,
    names,
    fail:
      (operation, hint = "") =>
      (error) =>
        error._tag === "EngineError"
          ? error
          : new EngineError({
              operation,
              ...(isNotFinite(error) ? { kind: "not-finite" as const } : {}),
              reason: `${url} (${profile.name}): ${error.message}${hint}`,
              cause: error
            })
  }
})

export const profileOf = ({ concurrency, contextLength, server: { facts, model, profile } }: Start): EngineProfile => ({
  name: `tinker/${profile.name}`,
  model,
  ...profileFrom(facts, `${profile.name}:${model}`),
  contextLength,
  concurrency,
  lanes: 16,
  clipHigh: true,
  klInLoss: false,
  ...(profile.fixedOptimizer.length === 0 ? {} : { fixedOptimizer: profile.fixedOptimizer }),
  scoresReference: profile.reference !== "none",
  removesCheckpoints: profile.removes
})

const ownNames: Server.OptionNames = {
  url: "url",
  model: "model",
  profile: "profile",
  contextLength: "contextLength",
  loraRank: "loraRank"
}

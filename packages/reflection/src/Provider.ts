import type { Chat as DomainChat } from "@inspo/domain"
import { Context, type Duration, Effect, Layer, type Redacted, Result, Schema, Stream } from "effect"
import { AiError, LanguageModel, type Prompt, type Response } from "effect/ai"
import type { HttpClient } from "effect/http"
import * as Server from "./internal/Server.ts"
import * as ServerFault from "./internal/ServerFault.ts"
import type { ProposerErrorKind } from "./Proposer.ts"

/** What distinguishes one protocol of language models from another, as data and two pure functions; {@link make} does the rest. */
export interface Provider {
  /** The name errors use. */
  readonly name: string
  /** Base URL of the provider's own service, or null where there is no such service. */
  readonly url: string | null
  /** Environment variable that usually holds the key, or null where no key is usual. */
  readonly apiKeyEnv: string | null
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>
  /** The header that carries the key. */
  readonly authorization: (apiKey: string) => readonly [name: string, value: string]
  /** Where a text is asked for, below the base URL. */
  readonly path: (model: string) => string
  /** Where models are listed, below the base URL; asking there costs nothing. */
  readonly modelsPath: string
  /** Where one model is looked up, below the base URL, or null where only the list says which there are. */
  readonly modelPath: ((model: string) => string) | null
  readonly body: (request: TextRequest) => Schema.Json
  /** Reads a body of status 200; fails with what is wrong about it. */
  readonly read: (body: string) => Result.Result<ReadonlyArray<AnswerPart>, string>
}

/** What is asked of a model, and the tools that it may call. The limit of tokens covers thoughts; temperature null is the provider's. */
export interface TextRequest {
  readonly model: string
  readonly messages: ReadonlyArray<DomainChat.ChatMessage>
  readonly tools: ReadonlyArray<DomainChat.ToolDefinition>
  readonly maxOutputTokens: number
  readonly temperature: number | null
}

/** One message of a conversation as plain text. */
export interface Message {
  readonly role: "system" | "user" | "assistant"
  readonly text: string
}

/** The parts of an answer that a provider reads. */
export type AnswerPart =
  | Response.TextPartEncoded
  | Response.ReasoningPartEncoded
  | Response.FinishPartEncoded
  | { readonly type: "call"; readonly call: DomainChat.ToolCall }

/**
 * - `url`: base URL, or null for the provider's own; a name and password in it are not sent on.
 * - `timeout`: how long one request may take.
 * - `retries`: repetitions after a timeout, a broken connection, or status 408, 429 or 5xx. Pauses grow from half a second to
 *   30; a `Retry-After` of the server is kept, and one of more than ten minutes ends the attempt.
 */
export interface Options {
  readonly model: string
  readonly url: string | null
  readonly apiKey: Redacted.Redacted | null
  readonly maxOutputTokens: number
  readonly temperature: number | null
  readonly timeout: Duration.Input
  readonly retries: number
}

/** Runs before every request that is sent, repetitions included; a caller sets it to count them. */
export const OnRequest = Context.Reference<Effect.Effect<void>>("@inspo/reflection/Provider/OnRequest", {
  defaultValue: () => Effect.void
})

/**
 * Runs after every request that may have been carried out and brought no answer that says what it took: it came too late,
 * broke off, or could not be read. A caller sets it to count them.
 */
export const OnLost = Context.Reference<Effect.Effect<void>>("@inspo/reflection/Provider/OnLost", {
  defaultValue: () => Effect.void
})

/**
 * The language model of a provider. It answers in text; tools are not offered to it, for that see {@link chat}.
 *
 * @example
 * ```ts
 * import { openAiCompatible } from "@inspo/reflection/models"
 * import { Provider } from "@inspo/reflection/models"
 * import { Layer } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const model = Provider.layer(openAiCompatible, {
 *   model: "qwen3",
 *   url: "http://127.0.0.1:8000/v1",
 *   apiKey: null,
 *   maxOutputTokens: 4096,
 *   temperature: 1,
 *   timeout: "5 minutes",
 *   retries: 4
 * }).pipe(Layer.provide(FetchHttpClient.layer))
 * ```
 */
export const layer = (
  provider: Provider,
  options: Options
): Layer.Layer<LanguageModel.LanguageModel, AiError.AiError, HttpClient.HttpClient> =>
  Layer.effect(LanguageModel.LanguageModel, make(provider, options))

/** The service of {@link layer}. */
export const make = Effect.fnUntraced(function* (
  provider: Provider,
  options: Options
): Effect.fn.Return<LanguageModel.LanguageModel, AiError.AiError, HttpClient.HttpClient> {
  const ask = yield* asking(provider, options)
  const generate = ({ prompt }: LanguageModel.ProviderOptions) =>
    Effect.map(ask({ messages: messages(prompt), tools: [] }), (parts) => parts.filter((part) => part.type !== "call"))
  return yield* LanguageModel.make({
    generateText: (asked) => Effect.map(generate(asked), (parts) => [...parts]),
    streamText: (asked) => Stream.fromIterableEffect(Effect.map(generate(asked), (parts) => parts.flatMap(streamed)))
  })
})

/** The next message of a conversation: its text, its thoughts and its tool calls. */
export interface Written {
  readonly text: string
  readonly reasoningText: string
  readonly calls: ReadonlyArray<DomainChat.ToolCall>
  /** Why it ends: `length` at the limit of tokens, `content-filter` if the model or its provider declined. */
  readonly finishReason: Response.FinishReason
  readonly usage: Response.FinishPartEncoded["usage"]
}

/** A model that continues conversations, in which it may call tools. */
export type Chat = (request: Pick<TextRequest, "messages" | "tools">) => Effect.Effect<Written, AiError.AiError>

/** The chat model of a provider. */
export const chat = Effect.fnUntraced(function* (
  provider: Provider,
  options: Options
): Effect.fn.Return<Chat, AiError.AiError, HttpClient.HttpClient> {
  const ask = yield* asking(provider, options)
  return (request) => Effect.map(ask(request), written)
})

const asking = Effect.fnUntraced(function* (provider: Provider, options: Options) {
  const server = yield* connect(provider, options)
  const { maxOutputTokens, model, temperature } = options
  return Effect.fnUntraced(
    function* (request: Parameters<Chat>[0]) {
      const body = yield* server.ask(
        provider.path(model),
        provider.body({ model, maxOutputTokens, temperature, ...request })
      )
      return yield* Effect.fromResult(provider.read(body)).pipe(
        Effect.mapError((problem) => ServerFault.unreadable(problem, body, server.hide)),
        Effect.tapError(({ _tag }) => (_tag === "InvalidResponseError" ? Effect.flatten(OnLost) : Effect.void))
      )
    },
    Effect.mapError(failure(server.name, "generateText"))
  )
})

const written = (parts: ReadonlyArray<AnswerPart>): Written => {
  const finish = parts.find((part) => part.type === "finish")
  return {
    text: textOf(parts, "text"),
    reasoningText: textOf(parts, "reasoning"),
    calls: parts.flatMap((part) => (part.type === "call" ? [part.call] : [])),
    finishReason: finish?.reason ?? "unknown",
    usage: finish?.usage ?? { inputTokens: {}, outputTokens: {} }
  }
}

const textOf = (parts: ReadonlyArray<AnswerPart>, type: "text" | "reasoning"): string =>
  parts.map((part) => (part.type === type ? part.text : "")).join("")

/** Whether a server answers and takes the key, without asking for a single token. */
export const probe = Effect.fn("Provider.probe")(function* (
  provider: Provider,
  options: Pick<Options, "url" | "apiKey" | "timeout">
): Effect.fn.Return<void, AiError.AiError, HttpClient.HttpClient> {
  const server = yield* connect(provider, { ...options, retries: 0 })
  yield* Effect.mapError(server.ask(provider.modelsPath), failure(server.name, "probe"))
})

/** How a model was found: by the server's own list, or because it answered. */
export type Found = "listed" | "answered"

/**
 * Whether a server answers, takes the key and has the model. It is asked what it knows of the model, which costs nothing.
 * A list may lack what a server has, an alias for one, and some servers keep none: the model itself is then asked for one
 * token, and what comes of that decides.
 */
export const find = Effect.fn("Provider.find")(function* (
  provider: Provider,
  options: Pick<Options, "url" | "apiKey" | "model" | "timeout">
): Effect.fn.Return<Found, AiError.AiError, HttpClient.HttpClient> {
  const { model } = options
  const server = yield* connect(provider, { ...options, retries: 1 })
  const listed = server.ask(provider.modelPath?.(model) ?? provider.modelsPath).pipe(
    Effect.flatMap((body) =>
      Result.match(decodeListing(body), {
        onFailure: () =>
          Effect.fail(ServerFault.unreadable("its list of models is not a JSON object", body, server.hide)),
        onSuccess: ({ data }) =>
          Effect.succeed(provider.modelPath !== null || (data ?? []).some(({ id }) => id === model))
      })
    ),
    // A key may be good for answers and not for lists.
    Effect.catchIf(
      (reason) =>
        isNotFound(reason) || (reason._tag === "AuthenticationError" && reason.kind === "InsufficientPermissions"),
      () => Effect.succeed(false)
    )
  )
  const answered = Effect.flatMap(
    server.ask(
      provider.path(model),
      provider.body({
        model,
        messages: [{ role: "user", text: "Hi" }],
        tools: [],
        maxOutputTokens: 1,
        temperature: null
      })
    ),
    (body) =>
      Effect.mapError(Effect.fromResult(provider.read(body)), (problem) =>
        ServerFault.unreadable(problem, body, server.hide)
      )
  )
  return yield* Effect.flatMap(listed, (isListed): Effect.Effect<Found, AiError.AiErrorReason> =>
    isListed ? Effect.succeed("listed") : Effect.as(answered, "answered")
  ).pipe(Effect.mapError(failure(server.name, "find")))
})

const Listing = Schema.Struct({ data: Schema.optional(Schema.Array(Schema.Struct({ id: Schema.String }))) })
const decodeListing = Schema.decodeUnknownResult(Schema.fromJsonString(Listing))

/** What kind of failure kept a model from answering. */
export const kindOf = ({ reason }: AiError.AiError): ProposerErrorKind =>
  isNotFound(reason) ? "not-found" : (kinds[reason._tag] ?? "other")

const kinds: Readonly<Partial<Record<AiError.AiErrorReason["_tag"], ProposerErrorKind>>> = {
  AuthenticationError: "unauthorized",
  RateLimitError: "rate-limited",
  QuotaExhaustedError: "quota-exhausted",
  InvalidRequestError: "rejected",
  InternalProviderError: "server-error",
  NetworkError: "unreachable",
  InvalidResponseError: "unreadable",
  InvalidOutputError: "unreadable"
}

const isNotFound = (reason: AiError.AiErrorReason): boolean =>
  reason._tag === "InvalidRequestError" && reason.constraint === ServerFault.notFound

/** What a request failed with after all retries, in one sentence with the remedy in terms of {@link Options}. It holds no key. */
export const explain = ({ module, reason }: AiError.AiError): string => {
  const detail = "http" in reason && reason.http?.body !== undefined ? ` (${reason.http.body})` : ""
  switch (reason._tag) {
    case "AuthenticationError":
      return `${module} does not accept the key${detail}; give a valid apiKey`
    case "RateLimitError":
      return `${module} takes no more requests for now${detail}; wait, raise retries, or raise the limit there`
    case "QuotaExhaustedError":
      return `${module} says that the quota is used up${detail}; raise it there, or choose another provider`
    case "InvalidRequestError":
      return isNotFound(reason)
        ? `${module} has no such model, or nothing at that address${detail}; check model and url`
        : `${module} does not accept the request${detail}; check model, url and the model's limits`
    case "InternalProviderError":
      return `${module} failed${detail}; try again later`
    case "NetworkError":
      return `${module} did not answer (${reason.description ?? reason.reason}); check url, or raise timeout`
    case "InvalidResponseError":
      return `${module} answered something else than its protocol says: ${reason.description}${detail}; check provider and url`
    default:
      return `${module}: ${reason.message}${detail}`
  }
}

const connect = (provider: Provider, { apiKey, retries, timeout, url }: Connection) =>
  Effect.mapError(
    Server.connect({
      name: provider.name,
      headers: provider.headers,
      authorization: provider.authorization,
      url: url ?? provider.url,
      apiKey,
      timeout,
      retries,
      onRequest: Effect.flatten(OnRequest),
      onLost: Effect.flatten(OnLost)
    }),
    failure(provider.name, "connect")
  )

type Connection = Pick<Options, "url" | "apiKey" | "timeout" | "retries">

const failure =
  (module: string, method: string) =>
  (reason: AiError.AiErrorReason): AiError.AiError =>
    AiError.make({ module, method, reason })

const messages = (prompt: Prompt.Prompt): ReadonlyArray<Message> =>
  prompt.content.flatMap((message): ReadonlyArray<Message> => {
    if (message.role === "system") return [{ role: "system", text: message.content }]
    if (message.role === "tool") return []
    const texts = message.content.map((part) => (part.type === "text" ? part.text : ""))
    return [{ role: message.role, text: texts.join("") }]
  })

/** A whole part as a stream brings it. */
const streamed = (
  part: Exclude<AnswerPart, { type: "call" }>,
  index: number
): ReadonlyArray<Response.StreamPartEncoded> => {
  const id = String(index)
  switch (part.type) {
    case "text":
      return [
        { type: "text-start", id },
        { type: "text-delta", id, delta: part.text },
        { type: "text-end", id }
      ]
    case "reasoning":
      return [
        { type: "reasoning-start", id },
        { type: "reasoning-delta", id, delta: part.text },
        { type: "reasoning-end", id }
      ]
    case "finish":
      return [part]
  }
}

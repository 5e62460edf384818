import { Engine, SharedCalls } from "@inspo/engine"
import { factsOf, readSeed } from "@inspo/engine/Wire"
import { Credentials, Malformed, OpenAiRefusal } from "@inspo/http/server"
import { Context, Effect, Layer, type Option, type Redacted, Result, Schema, Semaphore } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Completion from "./internal/server/Completion.ts"
import { type Plan, plan } from "./internal/server/Plan.ts"
import * as Wire from "./Wire.ts"

/** `/v1/completions` over an engine. */
export class CompletionsServer extends Context.Service<CompletionsServer, CompletionsServer.Interface>()(
  "@inspo/engine-completions/CompletionsServer"
) {}

export declare namespace CompletionsServer {
  export interface Interface {
    readonly model: Wire.Model
    /** `stream` says that the answer is written as events. */
    readonly complete: (
      request: Wire.CompletionRequest,
      seed: Option.Option<string>
    ) => Effect.Effect<Completed, OpenAiRefusal.Refusal>
    readonly apiKey: Redacted.Redacted | null
  }
}

/** An answer, and how it was asked for. */
export interface Completed {
  readonly response: Wire.CompletionResponse
  readonly stream: Plan["stream"]
  readonly streamUsage: Plan["streamUsage"]
}

export interface CompletionsServerOptions {
  /** The name of the model that clients ask for. */
  readonly model: string
  /** Required as `Authorization: Bearer …`; none is when absent. */
  readonly apiKey?: Redacted.Redacted | undefined
  /** Sequences that one request may ask for, over all its prompts; 1,024 when absent. */
  readonly maxSequences?: number | undefined
  /** Prompts of one request; 256 when absent. */
  readonly maxPrompts?: number | undefined
  /** Sequences that all open requests ask for; a request for more is refused with 429. 8,192 when absent. */
  readonly maxOpen?: number | undefined
}

/**
 * Serves the present policy of an engine to clients of OpenAI and of vLLM: prompts as texts or token ids in; texts and, where
 * asked for, token ids with log-probabilities out, those of the prompt too. What the engine cannot do is refused, and so are
 * requests beyond the limits. Requests that come at the same time share a call of the engine, which changes no sample; a
 * call ends when all its clients are gone.
 */
export const layer = (options: CompletionsServerOptions): Layer.Layer<CompletionsServer, never, Engine> =>
  Layer.effect(CompletionsServer, make(options))

const make = Effect.fnUntraced(function* (options: CompletionsServerOptions) {
  const { maxOpen = 8192, maxPrompts = 256, maxSequences = 1024, model } = options
  const engine = yield* Engine
  const { profile, tokenizer } = engine
  const limits = { prompts: maxPrompts, sequences: Math.min(maxSequences, maxOpen), stops: 64 }
  const created = yield* Completion.seconds
  const open = yield* Semaphore.make(maxOpen)
  const sampleOne = yield* SharedCalls.make({
    sample: (_: null, requests) => Effect.mapError(engine.sample(requests), OpenAiRefusal.failed),
    unanswered: () => OpenAiRefusal.refuse(500, "the engine left the request unanswered")
  })
  const complete = Completion.make(engine, (request) => sampleOne(null, request), model)

  return CompletionsServer.of({
    apiKey: options.apiKey ?? null,
    model: {
      id: model,
      object: "model",
      created,
      owned_by: "inspo",
      max_model_len: profile.contextLength,
      inspo: factsOf(profile)
    },
    complete: Effect.fnUntraced(function* (request, seed) {
      const asked = yield* Effect.fromResult(plan(request, { model, profile, tokenizer, limits }))
      const { stream, streamUsage } = asked
      const completed = yield* open.withPermitsIfAvailable(asked.n * asked.prompts.length)(complete(asked, seed))
      const response = yield* Effect.mapError(Effect.fromOption(completed), () =>
        OpenAiRefusal.refuse(
          429,
          `the open requests ask for as many sequences as this server samples at once, ${maxOpen}; ask again in a second`
        )
      )
      return { response, stream, streamUsage }
    })
  })
})

/** `/v1/models`, `/v1/models/{id}` and `/v1/completions`, which every router can take in. */
export const routes: Layer.Layer<never, never, HttpRouter.HttpRouter | CompletionsServer> = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { apiKey, complete, model } = yield* CompletionsServer
    const route = (
      method: "*" | "GET" | "POST",
      path: `/${string}`,
      handle: (
        request: HttpServerRequest.HttpServerRequest
      ) => Effect.Effect<HttpServerResponse.HttpServerResponse, OpenAiRefusal.Refusal>
    ) =>
      router.add(method, path, (request) =>
        authorize(apiKey, request).pipe(
          Effect.andThen(handle(request)),
          Effect.catch((refusal) =>
            Effect.succeed(
              HttpServerResponse.jsonUnsafe(OpenAiRefusal.bodyOf(refusal), {
                status: refusal.status,
                headers: refusal.status === 429 ? { "retry-after": "1" } : {}
              })
            )
          )
        )
      )
    yield* route("GET", "/v1/models", () =>
      Effect.succeed(HttpServerResponse.jsonUnsafe({ object: "list", data: [model] }))
    )
    yield* route("POST", "/v1/completions", (request) =>
      Effect.gen(function* () {
        const json = yield* Effect.mapError(request.json, () => OpenAiRefusal.refuse(400, "the body is not JSON"))
        const body = yield* Effect.fromResult(Result.mapError(decodeRequest(json), misread))
        const completed = yield* complete(
          body,
          yield* Effect.fromResult(
            Result.mapError(readSeed(request.headers), (reason) => OpenAiRefusal.refuse(400, reason))
          )
        )
        return completed.stream ? events(completed) : HttpServerResponse.jsonUnsafe(completed.response)
      })
    )
    yield* route("*", "/v1/*", ({ method, url }) =>
      method === "GET" && nameIn(url) === model.id
        ? Effect.succeed(HttpServerResponse.jsonUnsafe(model))
        : Effect.fail(
            OpenAiRefusal.refuse(
              404,
              `${method} ${url.slice(0, 200)} is not served here, expected POST /v1/completions, GET /v1/models or GET /v1/models/${model.id}`
            )
          )
    )
  })
)

/** An answer as server-sent events: an event a choice, since an engine gives sequences as a whole. */
const events = ({ response, streamUsage }: Completed): HttpServerResponse.HttpServerResponse => {
  const { choices, usage, ...head } = response
  const bodies: ReadonlyArray<object> = [
    ...choices.map((choice) => ({ ...head, choices: [choice], ...(streamUsage ? { usage: null } : {}) })),
    ...(streamUsage ? [{ ...head, choices: [], usage }] : [])
  ]
  return HttpServerResponse.text(
    [...bodies.map((body) => JSON.stringify(body)), "[DONE]"].map((data) => `data: ${data}\n\n`).join(""),
    { contentType: "text/event-stream", headers: { "cache-control": "no-cache" } }
  )
}

const decodeRequest = Schema.decodeUnknownResult(Wire.CompletionRequest, { onExcessProperty: "error" })

/** What is wrong with a body, and with which of its fields. */
const misread = (cause: Schema.SchemaError): OpenAiRefusal.Refusal => {
  const [{ expected, path }] = Malformed.problems(cause.issue)
  const field = path.length === 0 ? undefined : Malformed.fieldOf(path.slice(0, 1))
  if (field === undefined) return OpenAiRefusal.refuse(400, `the body: expected ${expected}`)
  return new OpenAiRefusal.Refusal({
    status: 400,
    field,
    reason: `${Malformed.fieldOf(path)}: expected ${expected}`,
    cause
  })
}

/** The name of the model that a path asks for, if any; it may hold slashes, written as they are or not. */
const nameIn = (url: string): string | null => {
  const [, written = null] = /^\/v1\/models\/([^?]+)/u.exec(url) ?? []
  return Result.getOrElse(
    Result.try(() => (written === null ? null : decodeURIComponent(written))),
    () => null
  )
}

const authorize = (
  apiKey: Redacted.Redacted | null,
  { headers }: HttpServerRequest.HttpServerRequest
): Effect.Effect<void, OpenAiRefusal.Refusal> => {
  return apiKey === null || Credentials.isBearer(headers["authorization"], apiKey)
    ? Effect.void
    : Effect.fail(OpenAiRefusal.refuse(401, "the header Authorization does not hold this server's key"))
}

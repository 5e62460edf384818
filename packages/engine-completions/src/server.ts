import { timingSafeEqual } from "node:crypto"
import { Engine, type EngineError, type SampleRequest, type SampleResult } from "@inspo/engine"
import {
  Context,
  Effect,
  Exit,
  Layer,
  Option,
  Random,
  Redacted,
  Request,
  RequestResolver,
  Result,
  Schema,
  Semaphore
} from "effect"
import { Headers, HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Wire from "./Wire.ts"

/** `/v1/completions` over an engine. */
export class CompletionsServer extends Context.Service<CompletionsServer, CompletionsServer.Interface>()(
  "@inspo/engine-completions/CompletionsServer"
) {}

export declare namespace CompletionsServer {
  export interface Interface {
    readonly models: Wire.Models
    readonly complete: (
      request: Wire.CompletionRequest,
      seed: Option.Option<string>
    ) => Effect.Effect<Wire.CompletionResponse, Refusal>
    readonly apiKey: Redacted.Redacted | null
  }
}

export interface CompletionsServerOptions {
  /** The name of the model that clients ask for. */
  readonly model: string
  /** Required as `Authorization: Bearer …`; none is when absent. */
  readonly apiKey?: Redacted.Redacted | undefined
}

/** A request that is answered with another status than 200. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", { status: Schema.Int, reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/**
 * Serves the present policy of an engine as vLLM does: prompts of token ids in, token ids with log-probabilities out, those
 * of the prompt too where they are asked for. Requests that come at the same time share a call of the engine, which changes
 * no sample.
 */
export const layer = (options: CompletionsServerOptions): Layer.Layer<CompletionsServer, never, Engine> =>
  Layer.effect(CompletionsServer, make(options))

const make = Effect.fnUntraced(function* (options: CompletionsServerOptions) {
  const engine = yield* Engine
  const { profile } = engine
  const turn = yield* Semaphore.make(1)
  const resolver = RequestResolver.make<Sampling>(
    Effect.fnUntraced(
      function* (entries) {
        const sampled = yield* Effect.exit(engine.sample(entries.map(({ request }) => request.request)))
        if (Exit.isSuccess(sampled)) {
          for (const [index, entry] of entries.entries()) entry.completeUnsafe(answerOf(sampled.value[index]))
        } else {
          // One request that cannot be sampled must not fail the others of its call.
          for (const entry of entries)
            entry.completeUnsafe(
              yield* Effect.exit(
                Effect.flatMap(Effect.mapError(engine.sample([entry.request.request]), refusalOf), ([result]) =>
                  answerOf(result)
                )
              )
            )
        }
      },
      (sampling) => turn.withPermit(sampling)
    )
    // What comes while the engine is busy shares its next call.
  ).pipe(RequestResolver.setDelayEffect(Effect.andThen(arrivals, turn.withPermit(Effect.void))))

  const complete = Effect.fnUntraced(function* (
    request: Wire.CompletionRequest,
    seed: Option.Option<string>
  ): Effect.fn.Return<Wire.CompletionResponse, Refusal> {
    const { prompt } = request
    if ((request.model ?? options.model) !== options.model)
      return yield* refuse(404, `model is ${request.model}, expected ${options.model}, the only one of this server`)
    if ((request.top_k ?? -1) > 0)
      return yield* refuse(400, `top_k is ${request.top_k}, expected -1: there is no top-k`)
    const room = profile.contextLength - prompt.length
    const maxTokens = request.max_tokens ?? 16
    if (prompt.length === 0) return yield* refuse(400, "prompt is empty, expected at least one token")
    const asksPrompt = typeof request.prompt_logprobs === "number"
    if (maxTokens > room && !asksPrompt)
      return yield* refuse(
        400,
        `max_tokens is ${maxTokens} after ${prompt.length} prompt tokens, expected at most ${profile.contextLength} together`
      )
    const stop = request.stop ?? []
    const { sequences } =
      asksPrompt && room < 1
        ? { sequences: [{ tokens: [], logprobs: [], stopReason: "length" as const }] }
        : yield* Effect.request(
            new Sampling({
              request: {
                prompt,
                n: request.n ?? 1,
                stop: typeof stop === "string" ? [stop] : stop,
                maxTokens: Math.min(maxTokens, room),
                temperature: request.temperature ?? 1,
                topP: request.top_p ?? 1,
                seed: Option.getOrElse(seed, () => String(request.seed ?? "")) || (yield* word)
              }
            }),
            resolver
          )
    const scored = asksPrompt
      ? yield* Effect.mapError(
          engine.score("current", [{ prompt: prompt.slice(0, 1), response: prompt.slice(1) }]),
          refusalOf
        )
      : undefined
    const promptLogprobs = scored?.flatMap((row) => [
      null,
      ...row.map((logprob, at) => ({ [String(prompt[at + 1])]: { logprob } }))
    ])
    return {
      choices: sequences.map(({ logprobs, stopReason, tokens }, index) => ({
        index,
        finish_reason: stopReason,
        ...(request.return_token_ids === true ? { token_ids: tokens } : {}),
        logprobs:
          typeof request.logprobs === "number"
            ? {
                tokens: tokens.map((token) =>
                  request.return_tokens_as_token_ids === true ? `token_id:${token}` : engine.tokenizer.decode([token])
                ),
                token_logprobs: logprobs
              }
            : null,
        prompt_logprobs: promptLogprobs ?? null
      }))
    }
  })

  return CompletionsServer.of({
    apiKey: options.apiKey ?? null,
    models: {
      data: [
        {
          id: options.model,
          owned_by: "inspo",
          max_model_len: profile.contextLength,
          inspo: {
            parameters: profile.parameters,
            concurrency: profile.concurrency,
            deterministic: profile.deterministic,
            single_token_stops: profile.stopTexts === "single-token",
            fingerprint: profile.fingerprint
          }
        }
      ]
    },
    complete
  })
})

/** `GET /v1/models` and `POST /v1/completions`, which every router can take in. */
export const routes: Layer.Layer<never, never, HttpRouter.HttpRouter | CompletionsServer> = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { apiKey, complete, models } = yield* CompletionsServer
    const route = (
      method: "GET" | "POST",
      path: `/${string}`,
      handle: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<object, Refusal>
    ) =>
      router.add(method, path, (request) =>
        authorize(apiKey, request).pipe(
          Effect.andThen(handle(request)),
          Effect.match({
            onSuccess: (body) => HttpServerResponse.jsonUnsafe(body),
            onFailure: ({ reason, status }) =>
              HttpServerResponse.jsonUnsafe({ error: { message: reason, code: status } }, { status })
          })
        )
      )
    yield* route("GET", "/v1/models", () => Effect.succeed({ object: "list", ...models }))
    yield* route("POST", "/v1/completions", (request) =>
      Effect.gen(function* () {
        const json = yield* Effect.mapError(request.json, () => refuse(400, "the body is not JSON"))
        const body = yield* Result.mapError(decodeRequest(json), ({ message }) =>
          refuse(400, message.replaceAll(/\s+/gu, " "))
        ).pipe(Effect.fromResult)
        const seed = yield* seedOf(request.headers)
        return { object: "text_completion", ...(yield* complete(body, seed)) }
      })
    )
  })
)

class Sampling extends Request.TaggedClass("Sampling")<{ readonly request: SampleRequest }, SampleResult, Refusal> {}

/** Lets the requests in that have come already. */
const arrivals = Effect.callback<void>((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

const decodeRequest = Schema.decodeUnknownResult(Wire.CompletionRequest)

const refuse = (status: number, reason: string) => new Refusal({ status, reason })
const refusalOf = ({ message }: EngineError) => refuse(400, message)

const answerOf = (result: SampleResult | undefined) =>
  result === undefined ? Exit.fail(refuse(500, "the engine left the request unanswered")) : Exit.succeed(result)

const seedOf = (headers: Headers.Headers): Effect.Effect<Option.Option<string>, Refusal> =>
  Option.match(Headers.get(headers, Wire.seedHeader), {
    onNone: () => Effect.succeedNone,
    onSome: (text) =>
      Effect.try({
        try: () => Option.some(decodeURIComponent(text)),
        catch: () => refuse(400, `the header ${Wire.seedHeader} is not percent-encoded`)
      })
  })

/** A seed for requests without one. */
const word = Effect.map(Random.nextIntBetween(0, 0xffffffff), String)

const authorize = (
  apiKey: Redacted.Redacted | null,
  { headers }: HttpServerRequest.HttpServerRequest
): Effect.Effect<void, Refusal> => {
  if (apiKey === null) return Effect.void
  const expected = Buffer.from(`Bearer ${Redacted.value(apiKey)}`)
  const given = Buffer.from(headers["authorization"] ?? "")
  return expected.length === given.length && timingSafeEqual(expected, given)
    ? Effect.void
    : Effect.fail(refuse(401, "the header Authorization does not hold this server's key"))
}

import { Chat } from "@inspo/domain"
import { Effect, Random, Schema } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"

/**
 * What became of a request: its answer left whole, or a status without a token; or it is not known whether the answer
 * arrived.
 */
export type Outcome = "answered" | "refused" | "lost"

/** A request as the server counted it; `estimated` is what its prompt was held to have before. */
export interface Asked {
  readonly outcome: Outcome
  readonly estimated: number
  readonly input: number
  readonly output: number
}

export interface CountedModel {
  readonly client: HttpClient.HttpClient
  readonly asked: Effect.Effect<ReadonlyArray<Asked>>
}

type Fault = "none" | "429" | "500" | "cut" | "silent" | "reset before" | "reset after"

const faults: ReadonlyArray<Fault> = ["429", "500", "cut", "silent", "reset before", "reset after"]

/** What a model writes depends on the conversation alone. */
export type Write = (conversation: ReadonlyArray<string>) => string

/**
 * A server of chat completions that counts what it writes, behind a network that fails at random. An answer takes its
 * `seconds`, so that a run can be killed while it waits.
 */
export const make = (options: {
  readonly rate: number
  readonly seed: string
  readonly seconds: number
  readonly write: Write
}): Effect.Effect<CountedModel> =>
  Effect.gen(function* () {
    const random = yield* Random.withSeed(Random.Random, options.seed)
    const asked: Array<Asked> = []

    const draw = (): Fault =>
      random.nextDoubleUnsafe() < options.rate
        ? (faults[Math.floor(random.nextDoubleUnsafe() * faults.length)] ?? "none")
        : "none"

    const client = HttpClient.make((request) =>
      Effect.gen(function* () {
        const { messages } = yield* bodyOf(request)
        const estimated = messages.reduce((total, { content }) => total + Chat.estimateTokens(content), 0)
        const fault = draw()
        if (fault === "429" || fault === "500") {
          asked.push({ outcome: "refused", estimated, input: 0, output: 0 })
          return reply(request, Number(fault), '{"error":{"message":"not now"}}')
        }
        const text = fault === "reset before" ? "" : options.write(messages.map(({ content }) => content))
        const usage = { input: Math.floor(0.9 * estimated), output: Chat.estimateTokens(text) }
        const place = asked.push({ outcome: "lost", estimated, ...(text === "" ? { input: 0, output: 0 } : usage) }) - 1
        yield* Effect.sleep(`${options.seconds} seconds`)
        if (fault === "silent") return yield* Effect.never
        if (fault === "reset before" || fault === "reset after") return yield* broken(request)
        const body = completion(text, usage)
        if (fault === "cut") return broke(request, body)
        asked[place] = { outcome: "answered", estimated, ...usage }
        return reply(request, 200, body)
      })
    )
    return { client, asked: Effect.sync(() => [...asked]) }
  })

const Body = Schema.Struct({ messages: Schema.Array(Schema.Struct({ role: Schema.String, content: Schema.String })) })
const decodeBody = Schema.decodeUnknownEffect(Schema.fromJsonString(Body))

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest) =>
  Effect.orDie(decodeBody(body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""))

const completion = (content: string, { input, output }: { readonly input: number; readonly output: number }): string =>
  JSON.stringify({
    id: "1",
    object: "chat.completion",
    model: "counted",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
  })

const reply = (request: HttpClientRequest.HttpClientRequest, status: number, body: string) =>
  HttpClientResponse.fromWeb(request, new Response(body, { status, headers: { "content-type": "application/json" } }))

/** An answer whose body breaks off. */
const broke = (request: HttpClientRequest.HttpClientRequest, body: string) => {
  const half = new TextEncoder().encode(body.slice(0, body.length / 2))
  const stream = new ReadableStream({
    start: (controller) => {
      controller.enqueue(half)
      controller.error(new Error("reset"))
    }
  })
  return HttpClientResponse.fromWeb(request, new Response(stream, { status: 200 }))
}

const broken = (request: HttpClientRequest.HttpClientRequest) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, description: "reset" })
  })

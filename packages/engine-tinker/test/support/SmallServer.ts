import { Clock, Effect, Schema } from "effect"
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http"

export interface SmallServer {
  readonly client: HttpClient.HttpClient
  /** The models that it holds. */
  readonly held: () => ReadonlySet<string>
  /** The most it held at once. */
  readonly most: () => number
}

/**
 * A server that has room for `room` models and answers as SkyRL does when it has none; the rest it leaves to `inner`. What
 * it holds when `freedAfter` milliseconds have passed is freed, as that of a client that is gone.
 */
export const make = (
  inner: HttpClient.HttpClient,
  { freedAfter = Infinity, room }: { readonly room: number; readonly freedAfter?: number }
): SmallServer => {
  const held = new Set<string>()
  let most = 0

  const bodyOf = (request: HttpClientRequest.HttpClientRequest) =>
    request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : "{}"

  const answer = (request: HttpClientRequest.HttpClientRequest, status: number, body: object) =>
    HttpClientResponse.fromWeb(request, Response.json(body, { status }))

  const client = HttpClient.make((request) =>
    Effect.gen(function* () {
      if (request.url.endsWith("retrieve_future") && bodyOf(request).includes('"full"'))
        return answer(request, 400, { detail: `Maximum number of LoRA adapters (${room + 1}) reached` })
      if (request.url.endsWith("create_model")) {
        if ((yield* Clock.currentTimeMillis) >= freedAfter) held.clear()
        if (held.size >= room) return answer(request, 200, { request_id: "full", model_id: "never" })
        const asked = yield* Effect.orDie(decodeCreation(bodyOf(request)))
        const response = yield* inner.execute(request)
        const id = `${asked.session_id}:train:${asked.model_seq_id}`
        held.add(id)
        most = Math.max(most, held.size)
        return answer(request, response.status, {
          ...(yield* Effect.orDie(decodeFuture(yield* response.text))),
          model_id: id
        })
      }
      if (request.url.endsWith("unload_model"))
        held.delete((yield* Effect.orDie(decodeModel(bodyOf(request)))).model_id)
      return yield* inner.execute(request)
    })
  )
  return { client, held: () => held, most: () => most }
}

const decodeBody = <S extends Schema.Struct.Fields>(fields: S) =>
  Schema.decodeEffect(Schema.fromJsonString(Schema.Struct(fields)))
const decodeCreation = decodeBody({ session_id: Schema.String, model_seq_id: Schema.Int })
const decodeFuture = decodeBody({ request_id: Schema.String })
const decodeModel = decodeBody({ model_id: Schema.String })

/** The addresses that agents call: `/episodes/NAME/v1/chat/completions`, `…/responses`, `…/messages` and `…/models`. */
import { Engine } from "@inspo/engine"
import { OpenAiRefusal } from "@inspo/http/server"
import { Clock, Effect, type Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Gateway } from "./Gateway.ts"
import { wire as anthropic } from "./wires/Anthropic.ts"
import { wire as openAi } from "./wires/OpenAi.ts"
import { wire as responses } from "./wires/Responses.ts"
import type { Reply, Wire } from "./wires/Wire.ts"

/** The path of an episode's calls: a client of OpenAI takes it as its base URL, one of Anthropic without `/v1`. */
export const pathOf = (name: string): string => `/episodes/${name}/v1`

/** Routes that every router can take in. */
export const routes: Layer.Layer<never, never, HttpRouter.HttpRouter | Gateway | Engine> = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const gateway = yield* Gateway
    const { decode } = (yield* Engine).tokenizer
    let answers = 0

    const answer = Effect.fnUntraced(function* (wire: Wire, request: HttpServerRequest.HttpServerRequest) {
      const body = yield* Effect.mapError(request.json, () => OpenAiRefusal.refuse(400, "the body is not JSON"))
      const asked = yield* Effect.fromResult(wire.read(body))
      const name = request.url.split("/")[2] ?? ""
      const answered = yield* gateway.call(name, asked.call)
      const created = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      return written(asked.answer(answered, { id: `${name}-${answers++}`, created, model: gateway.model, decode }))
    })

    for (const wire of wires)
      yield* router.add("POST", `/episodes/:name/v1${wire.path}`, (request) =>
        answer(wire, request).pipe(
          Effect.catch((refusal) =>
            Effect.succeed(HttpServerResponse.jsonUnsafe(wire.refused(refusal), { status: refusal.status }))
          )
        )
      )
    yield* router.add("GET", "/episodes/:name/v1/models", () =>
      Effect.succeed(
        HttpServerResponse.jsonUnsafe({
          object: "list",
          data: [{ id: gateway.model, object: "model", created: 0, owned_by: "inspo" }]
        })
      )
    )
  })
)

const wires: ReadonlyArray<Wire> = [openAi, responses, anthropic]

const written = (reply: Reply): HttpServerResponse.HttpServerResponse =>
  reply._tag === "Json"
    ? HttpServerResponse.jsonUnsafe(reply.body)
    : HttpServerResponse.text(
        reply.events
          .map(({ data, event }) => `${event === undefined ? "" : `event: ${event}\n`}data: ${data}\n\n`)
          .join(""),
        { contentType: "text/event-stream", headers: { "cache-control": "no-cache" } }
      )

import { createServer } from "node:http"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Engine } from "@inspo/engine"
import * as CompletionsEngine from "@inspo/engine-completions"
import * as Server from "@inspo/engine-completions/server"
import { Effect, Layer, type Redacted, Scope } from "effect"
import { HttpClient, HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as LlamaServer from "./LlamaServer.ts"
import * as SglangServer from "./SglangServer.ts"

export interface ServedOptions {
  readonly apiKey?: Redacted.Redacted
  readonly client?: Partial<CompletionsEngine.CompletionsEngineOptions>
}

/** What answers: our own server, which speaks as vLLM does, or one that speaks as SGLang or llama.cpp does. */
export type Speaker = "vllm" | "sglang" | "llama.cpp"

const routes = (speaker: Speaker, { apiKey }: ServedOptions) => {
  if (speaker === "sglang") return SglangServer.routes
  if (speaker === "llama.cpp") return LlamaServer.routes
  return Server.routes.pipe(Layer.provide(Server.layer({ model: "served", apiKey })))
}

/** A client whose requests go straight to a server over the engine: HTTP without sockets. */
export const inMemory = (
  speaker: Speaker,
  options: ServedOptions = {}
): Layer.Layer<HttpClient.HttpClient, never, Engine> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const handle = yield* HttpRouter.toHttpEffect(routes(speaker, options))
      return HttpClient.make((request) =>
        handle.pipe(
          Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromClientRequest(request)),
          Effect.map((response) => HttpServerResponse.toClientResponse(response, { request })),
          Effect.orDie,
          Scope.provide(scope)
        )
      )
    })
  )

/** The engine behind a server that listens, asked over a real connection. */
export const overHttp = (speaker: Speaker) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { tokenizer } = yield* Engine
      const server = HttpRouter.serve(routes(speaker, {}), { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
      )
      const { address } = yield* Effect.provideContext(HttpServer.HttpServer, yield* Layer.build(server))
      const port = "port" in address ? address.port : 0
      return CompletionsEngine.layer({ url: `http://127.0.0.1:${port}`, tokenizer }).pipe(
        Layer.provide(NodeHttpClient.layerUndici)
      )
    })
  )

/** The engine behind a server, asked over {@link inMemory}. */
export const engine = (speaker: Speaker, options: ServedOptions = {}) =>
  Layer.unwrap(
    Effect.map(Engine, ({ tokenizer }) =>
      CompletionsEngine.layer({ url: "http://served.test", tokenizer, ...options.client }).pipe(
        Layer.provide(inMemory(speaker, options))
      )
    )
  )

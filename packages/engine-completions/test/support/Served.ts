import { createServer } from "node:http"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Engine } from "@inspo/engine"
import * as CompletionsEngine from "@inspo/engine-completions"
import { Effect, Layer, type Redacted, Scope } from "effect"
import { HttpClient, HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as LlamaServer from "./LlamaServer.ts"
import * as SglangServer from "./SglangServer.ts"
import * as VllmServer from "./VllmServer.ts"

export interface ServedOptions {
  readonly apiKey?: Redacted.Redacted
  readonly client?: Partial<CompletionsEngine.CompletionsEngineOptions>
}

/** What answers: a server that speaks as vLLM, SGLang or llama.cpp does. */
export type Speaker = "vllm" | "sglang" | "llama.cpp"

const routes = (speaker: Speaker, { apiKey }: ServedOptions) => {
  if (speaker === "sglang") return SglangServer.routes
  if (speaker === "llama.cpp") return LlamaServer.routes
  return VllmServer.routes(apiKey)
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

/** The address of a server over the engine that listens while the scope lives. */
export const listening = Effect.fnUntraced(function* (speaker: Speaker) {
  const server = HttpRouter.serve(routes(speaker, {}), { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
  )
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, yield* Layer.build(server))
  return `http://127.0.0.1:${"port" in address ? address.port : 0}`
})

/** The engine behind a server that listens, asked over a real connection. */
export const overHttp = (speaker: Speaker) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { tokenizer } = yield* Engine
      return CompletionsEngine.layer({ url: yield* listening(speaker), tokenizer }).pipe(
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

import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"

const ChatRequest = Schema.Struct({
  messages: Schema.NonEmptyArray(Schema.Struct({ role: Schema.String, content: Schema.String }))
})

export interface Message {
  readonly role: string
  readonly content: string
}

/** What a model writes in answer to a conversation. */
export type Script = (messages: ReadonlyArray<Message>) => string

/** A server of OpenAI's chat completions on a free port of this machine that follows a script. */
export const layer = (script: Script) =>
  HttpRouter.serve(
    HttpRouter.add(
      "POST",
      "/v1/chat/completions",
      Effect.map(HttpServerRequest.schemaBodyJson(ChatRequest), ({ messages }) =>
        HttpServerResponse.jsonUnsafe({
          choices: [{ message: { role: "assistant", content: script(messages) }, finish_reason: "stop" }],
          usage: { prompt_tokens: 10, completion_tokens: 10 }
        })
      )
    ),
    { disableLogger: true, disableListenLog: true }
  ).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })))

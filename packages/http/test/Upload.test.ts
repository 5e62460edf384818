/** @module-tag deep */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Guard } from "@inspo/http/server"
import { Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer, request } from "node:http"

/** A server that reads whatever it is sent, and the port it listens on. */
const listening = Effect.fnUntraced(function* (options: Partial<Guard.Options> = {}) {
  const read = HttpRouter.add(
    "POST",
    "/read",
    Effect.map(
      HttpServerRequest.HttpServerRequest.use(({ text }) => text),
      (text) => HttpServerResponse.text(String(text.length))
    ).pipe(Effect.orDie)
  )
  const context = yield* HttpRouter.serve(Layer.merge(read, Guard.layer({ names: [], ...options })), {
    disableLogger: true,
    disableListenLog: true
  }).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0 })), Layer.build)
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
  return "port" in address ? address.port : 0
})

/** Sends so many bytes of a body, the others after `rest` resolves; gives the status, 0 where the connection broke. */
const send = (
  port: number,
  bytes: number,
  rest: Promise<void> = Promise.resolve(),
  headers: Readonly<Record<string, string>> = {}
): Promise<number> =>
  new Promise((resolve) => {
    const asked = request(
      { port, path: "/read", method: "POST", headers: { "content-length": bytes, ...headers } },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      }
    )
    asked.on("error", () => resolve(0))
    asked.write("x".repeat(bytes / 2))
    void rest.then(() => asked.end("x".repeat(bytes / 2)))
  })

const large = 2 * 2 ** 20

describe("a large body", () => {
  it.live(
    "that stops arriving is refused, and keeps no other client or request waiting for long",
    () =>
      Effect.gen(function* () {
        const port = yield* listening()
        const never = new Promise<void>(() => {})
        yield* Effect.promise(async () => {
          const stalled = [1, 2].map(() => send(port, large, never))
          const honest = [1, 2, 3].map(() => send(port, large))
          assert.deepStrictEqual(await Promise.all(honest), [200, 200, 200])
          // The answer is lost where the connection ends with the body.
          for (const status of await Promise.all(stalled)) assert.include([0, 408], status)
        })
      }).pipe(Effect.scoped),
    30_000
  )

  it.live.each([
    ["a key", { keys: [Redacted.make("secret")] }, { authorization: "Bearer secret" }],
    ["an address of its own", { proxies: ["127.0.0.1", "::1"] }, { "x-forwarded-for": "192.0.2.7" }]
  ] as const)(
    "of a client with %s does not wait for the stalled ones of others behind the same proxy",
    ([, options, headers]) =>
      Effect.gen(function* () {
        const port = yield* listening(options)
        const never = new Promise<void>(() => {})
        yield* Effect.promise(async () => {
          const stalled = [1, 2].map(() => send(port, large, never, { "x-forwarded-for": "192.0.2.1" }))
          const began = performance.now()
          const honest = [1, 2, 3].map(() => send(port, large, undefined, headers))
          assert.deepStrictEqual(await Promise.all(honest), [200, 200, 200])
          // Stalled bodies are refused after 5 seconds.
          assert.isBelow(performance.now() - began, 4000)
          await Promise.all(stalled)
        })
      }).pipe(Effect.scoped),
    30_000
  )
})

import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { buffer } from "node:stream/consumers"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as PooledHttpClient from "../../src/engine/PooledHttpClient.ts"

/** The URL of a server that answers so, until the scope closes. */
const listening = (answer: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer(answer)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = address === null || typeof address === "string" ? 0 : address.port
        resume(
          Effect.succeed({
            url: `http://127.0.0.1:${port}`,
            close: () => {
              server.closeAllConnections()
              server.close()
            }
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const Echo = Schema.fromJsonString(
  Schema.Struct({ method: Schema.String, url: Schema.String, key: Schema.String, body: Schema.String })
)

const echo = async (request: IncomingMessage, response: ServerResponse) => {
  const body = await buffer(request)
  response.writeHead(Number(request.headers["x-status"] ?? 200), { "content-type": "text/x", "x-two": ["a", "b"] })
  const { method = "", url = "" } = request
  response.end(JSON.stringify({ method, url, key: request.headers["x-key"] ?? "", body: body.toString() }))
}

const get = (url: string) => Effect.flatMap(HttpClient.HttpClient, (client) => client.get(url))

describe("PooledHttpClient", () => {
  it.live("sends a request as it is and gives the answer as it came", () =>
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const { url } = yield* listening((request, response) => void echo(request, response))
      const body = "ä".repeat(200_000)
      const response = yield* client.execute(
        HttpClientRequest.post(`${url}/a/b?c=d`, { headers: { "x-key": "secret", "x-status": "418" } }).pipe(
          HttpClientRequest.bodyText(body, "application/json")
        )
      )
      assert.strictEqual(response.status, 418)
      assert.strictEqual(response.headers["content-type"], "text/x")
      assert.strictEqual(response.headers["x-two"], "a, b")
      assert.deepStrictEqual(yield* Schema.decodeEffect(Echo)(yield* response.text), {
        method: "POST",
        url: "/a/b?c=d",
        key: "secret",
        body
      })
    }).pipe(Effect.scoped, Effect.provide(PooledHttpClient.layer("10 seconds")))
  )

  it.live("lets no answer that is waited for hold up another request", () =>
    Effect.gen(function* () {
      const { url } = yield* listening((request, response) => {
        if (request.url === "/quick") response.end("quick")
      })
      const waiting = yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.forkChild(get(`${url}/never`)))
      assert.strictEqual(yield* (yield* get(`${url}/quick`)).text, "quick")
      yield* Fiber.interruptAll(waiting)
    }).pipe(Effect.scoped, Effect.provide(PooledHttpClient.layer("10 seconds")))
  )

  it.live("breaks a request off with the fiber that waits for it", () =>
    Effect.gen(function* () {
      let [arrived, gone] = [() => {}, () => {}]
      const arrival = new Promise<void>((resolve) => (arrived = resolve))
      const departure = new Promise<void>((resolve) => (gone = resolve))
      const { url } = yield* listening((request) => {
        request.on("close", gone)
        arrived()
      })
      const fiber = yield* Effect.forkChild(get(url))
      yield* Effect.promise(() => arrival)
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => departure)
    }).pipe(Effect.scoped, Effect.provide(PooledHttpClient.layer("10 seconds")))
  )

  it.live("fails on a broken connection, on none at all and on silence", () =>
    Effect.gen(function* () {
      const { url: breaking } = yield* listening((request) => request.destroy())
      const { url: silent } = yield* listening(() => {})
      for (const url of [breaking, "http://127.0.0.1:1", silent]) {
        const { reason } = yield* Effect.flip(get(url))
        assert.strictEqual(reason._tag, "TransportError", url)
      }
    }).pipe(Effect.scoped, Effect.provide(PooledHttpClient.layer("500 millis")))
  )
})

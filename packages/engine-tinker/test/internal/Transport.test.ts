import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import * as Transport from "../../src/internal/client/Transport.ts"

const serving = (answer: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer(answer).listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, close: () => server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ url }) => url))

describe("Transport", () => {
  it.effect("does not follow a redirect with its key", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const other = yield* serving(({ headers }, response) => {
        seen.push(headers["x-api-key"])
        response.end("{}")
      })
      const url = yield* serving((_, response) => response.writeHead(307, { location: other }).end())
      const client = yield* HttpClient.HttpClient
      const send = Transport.make(client, { url, apiKey: Redacted.make("tml-secret-123"), answerWithin: null })
      assert.strictEqual((yield* send("GET", "get_server_capabilities")).status, 307)
      assert.deepStrictEqual(seen, [])
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )
})

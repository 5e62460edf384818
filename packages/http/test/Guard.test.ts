import { assert, describe, it } from "@effect/vitest"
import { Guard } from "@inspo/http/server"
import { Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

/** Status of a request to a server that answers 200 to whatever reaches it. */
const ask = (
  request: {
    readonly method?: string
    readonly path?: string
    readonly headers: Record<string, string>
    readonly body?: string
  },
  options: Guard.Options = { names: [] }
) =>
  Effect.gen(function* () {
    const echo = HttpRouter.use((router) =>
      router.add(
        "*",
        "/echo",
        Effect.map(
          HttpServerRequest.HttpServerRequest.use(({ text }) => text),
          (text) => HttpServerResponse.text(text)
        ).pipe(Effect.catch(() => Effect.succeed(HttpServerResponse.text("unread", { status: 400 }))))
      )
    )
    const { dispose, handler } = HttpRouter.toWebHandler(
      Layer.merge(echo, Guard.layer(options)).pipe(Layer.provideMerge(HttpRouter.layer)),
      { disableLogger: true }
    )
    yield* Effect.addFinalizer(() => Effect.promise(dispose))
    const { body, headers, method = "GET", path = "/echo" } = request
    const response = yield* Effect.promise(() =>
      handler(new Request(`http://server${path}`, { method, headers, ...(body === undefined ? {} : { body }) }))
    )
    return { status: response.status, text: yield* Effect.promise(() => response.text()) }
  }).pipe(Effect.scoped)

const host = "127.0.0.1:8000"

describe("the guard", () => {
  it.effect.each(["localhost", "LOCALHOST:8000", host, "[::1]:8000", "10.1.2.3:80"])(
    "accepts requests for %s, like those of its own pages",
    (name) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* ask({ headers: { host: name } })).status, 200)
        for (const origin of [`http://${name}`, `https://${name}`])
          assert.strictEqual((yield* ask({ method: "POST", headers: { host: name, origin }, body: "x" })).status, 200)
      })
  )

  it.effect("lets a request without a required key through to the health check alone", () =>
    Effect.gen(function* () {
      const options = { names: "any", keys: [Redacted.make("secret")], isKeyRequired: true } as const
      const status = (headers: Record<string, string>, own: Guard.Options = options, path = "/echo") =>
        Effect.map(ask({ headers: { host, ...headers }, path }, own), (answer) => answer.status)
      for (const headers of [{}, { authorization: "Bearer other" }, { "x-api-key": "" }])
        assert.strictEqual(yield* status(headers), 401)
      for (const headers of [{ authorization: "Bearer secret" }, { "x-api-key": "secret" }])
        assert.strictEqual(yield* status(headers), 200)
      assert.strictEqual(yield* status({}, { ...options, keys: [] }), 200)
      assert.notStrictEqual(yield* status({}, options, "/healthz"), 401)
      assert.strictEqual(yield* status({}, options, "/healthz/../echo"), 401)
    })
  )

  it.effect.each(["localhost:99999999", "127.0.0.1:65536"])("refuses %s, which is no host", (name) =>
    Effect.gen(function* () {
      for (const names of [[], "any"] as const)
        assert.strictEqual((yield* ask({ headers: { host: name } }, { names })).status, 400)
    })
  )

  it.effect.each([
    [{ "sec-fetch-site": "same-origin" }, 200],
    [{ "sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }, 200],
    // An image or a script of a foreign page, which has no origin.
    [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }, 403],
    [{ "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" }, 403],
    [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }, 403],
    // A link that somebody follows.
    [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }, 200]
  ] as const)("of what browsers say of a request, %o is answered with %d", ([headers, status]) =>
    Effect.gen(function* () {
      for (const names of [[], "any"] as const)
        assert.strictEqual((yield* ask({ headers: { host, ...headers } }, { names })).status, status)
    })
  )

  it.effect("answers requests with large bodies two at a time, and others beside them", () =>
    Effect.gen(function* () {
      let [open, most] = [0, 0]
      const wait = HttpRouter.add(
        "*",
        "/wait",
        Effect.gen(function* () {
          most = Math.max(most, ++open)
          yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))
          open--
          return HttpServerResponse.empty()
        })
      )
      const { dispose, handler } = HttpRouter.toWebHandler(
        Layer.merge(wait, Guard.layer({ names: [] })).pipe(Layer.provideMerge(HttpRouter.layer)),
        { disableLogger: true }
      )
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      const together = (bytes: number) =>
        Effect.promise(async () => {
          most = 0
          const headers = { host, "content-length": String(bytes) }
          const asked = Array.from({ length: 6 }, () => handler(new Request("http://server/wait", { headers })))
          for (const { status } of await Promise.all(asked)) assert.strictEqual(status, 204)
          return most
        })
      assert.strictEqual(yield* together(2 * 2 ** 20), 2)
      assert.strictEqual(yield* together(1000), 6)
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example",
    "127.0.0.1.evil.example:8000",
    "127.0.0.1@evil.example",
    "[::1].evil.example",
    ""
  ])("refuses the name %s on every route, unless every request brings a key", (name) =>
    Effect.gen(function* () {
      for (const path of ["/echo", "/nothing"]) {
        const refused = yield* ask({ path, headers: { host: name } })
        assert.strictEqual(refused.status, 403)
        assert.include(refused.text, "localhost")
      }
      const isHost = name === "" || URL.canParse(`http://${name}`)
      assert.strictEqual((yield* ask({ headers: { host: name } }, { names: "any" })).status, isHost ? 200 : 400)
      assert.strictEqual((yield* ask({ headers: { host: "lab.example:1" } }, { names: ["lab.example"] })).status, 200)
    })
  )

  it.effect.each(["http://evil.example", "null", "http://localhost:9999", `http://${host}.evil.example`, "file://"])(
    "refuses requests of a page of %s, with any content type",
    (origin) =>
      Effect.gen(function* () {
        for (const names of [[], "any"] as const)
          for (const type of ["text/plain", "application/json"]) {
            const headers = { host, origin, "content-type": type }
            assert.strictEqual((yield* ask({ method: "POST", headers, body: "{}" }, { names })).status, 403)
          }
        assert.strictEqual((yield* ask({ headers: { host, origin } })).status, 403)
      })
  )

  it.effect("refuses a too long path and a body above the limit, and reports the limit", () =>
    Effect.gen(function* () {
      const long = yield* ask({ path: `/echo?${"x".repeat(5000)}`, headers: { host } })
      assert.deepStrictEqual([long.status, long.text.includes("2048")], [414, true])
      const options = { names: [], maxBodyBytes: 10 }
      const body = (length: number) => ({ method: "POST", body: "x".repeat(length) })
      assert.strictEqual((yield* ask({ ...body(10), headers: { host, "content-length": "10" } }, options)).status, 200)
      const large = yield* ask({ ...body(11), headers: { host, "content-length": "11" } }, options)
      assert.deepStrictEqual([large.status, large.text.includes("10")], [413, true])
    })
  )
})

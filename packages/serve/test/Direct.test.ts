import { once } from "node:events"
import { createServer, request as send, type IncomingMessage, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { Lease } from "@inspo/serve"
import * as Registry from "@inspo/serve/live/Populations"
import * as Server from "@inspo/serve/http/Server"
import * as SqliteStore from "@inspo/serve/store/SqliteStore"

interface Sent {
  readonly path: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

const json = { "content-type": "application/json" }

/** A server that answers directly, and says of other requests that the routes answered them; and its routes alone. */
const server = Effect.fnUntraced(function* (keys: Server.Keys = {}) {
  const populations = yield* Layer.build(Layer.provide(Registry.layer, SqliteStore.layerMemory))
  const { direct, routes } = yield* Effect.provideContext(Server.make(keys), populations)
  const { dispose, handler } = HttpRouter.toWebHandler(
    routes.pipe(Layer.provide(Layer.succeedContext(populations)), Layer.provideMerge(HttpServer.layerServices)),
    { disableLogger: true }
  )
  yield* Effect.addFinalizer(() => Effect.promise(dispose))
  yield* Registry.Populations.use((all) => all.create("support", { seed: "Be brief.", variants: ["Be kind."] })).pipe(
    Effect.provideContext(populations),
    Effect.orDie
  )
  const ofRoutes = ({ body, headers = json, path }: Sent) =>
    handler(new Request(`http://localhost${path}`, { method: "POST", body, headers }))
  const otherwise = async (request: IncomingMessage, response: ServerResponse) => {
    const { authorization, "content-type": type = "" } = request.headers
    const headers = { "content-type": type, ...(authorization === undefined ? {} : { authorization }) }
    const answer = await ofRoutes({ path: request.url ?? "", body: await text(request), headers })
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), way: "routes" }).end(await answer.text())
  }
  const http = yield* Effect.acquireRelease(
    Effect.sync(() =>
      createServer((request, response) => direct(request, response, () => void otherwise(request, response))).listen(0)
    ),
    (listening) =>
      Effect.sync(() => {
        listening.close()
        listening.closeAllConnections()
      })
  )
  yield* Effect.promise(() => once(http, "listening"))
  const address = http.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const ask = ({ body, headers = json, path }: Sent) =>
    Effect.promise(async () => {
      const asked = send({
        port,
        path,
        method: "POST",
        headers: { ...headers, "content-length": Buffer.byteLength(body) }
      })
      asked.end(body)
      const [answer] = await once(asked, "response")
      return {
        way: String(answer.headers.way ?? "direct"),
        status: Number(answer.statusCode),
        type: String(answer.headers["content-type"]),
        body: await text(answer)
      }
    })
  const routed = (sent: Sent) =>
    Effect.promise(async () => {
      const answer = await ofRoutes(sent)
      return { status: answer.status, type: String(answer.headers.get("content-type")), body: await answer.text() }
    })
  return { ask, routed }
})

const leases = "/v1/populations/support/leases"
const rewards = "/v1/populations/support/rewards"
const leasesOf = (...requests: ReadonlyArray<Lease.LeaseRequest>) => JSON.stringify({ requests })
const decodeLeases = Schema.decodeUnknownSync(Schema.fromJsonString(Lease.Leases))

describe("the direct way", () => {
  it.live("answers what succeeds in the bytes of the routes", () =>
    Effect.gen(function* () {
      const { ask, routed } = yield* server()
      for (const body of [
        leasesOf({ key: "a" }),
        leasesOf({ key: "ü/ b" }, { key: "c", n: 2, stratum: "s", sticky: "u" }),
        leasesOf({ key: "d", instructions: 2, question: { id: "q", text: "Who?", goldenAnswers: ["me"] } })
      ]) {
        const { way, ...first } = yield* ask({ path: leases, body })
        assert.strictEqual(way, "direct", first.body)
        assert.deepStrictEqual(first, yield* routed({ path: leases, body }))
        const [{ lease, n } = { lease: "", n: 1 }] = decodeLeases(first.body).leases
        const of = {
          lease,
          ...(n === 1 ? {} : { sample: 1 }),
          feedback: "Too long",
          transcript: [{ role: "user", content: "é" }]
        }
        const reward = {
          path: rewards,
          body: JSON.stringify({
            rewards: [
              { ...of, value: 1 },
              { lease: "none", value: 0 }
            ]
          })
        }
        const outcome = yield* ask(reward)
        assert.deepStrictEqual(outcome, {
          way: "direct",
          status: 200,
          type: "application/json",
          body: '{"results":[{"outcome":"accepted"},{"outcome":"unknown"}]}'
        })
        const { way: again, ...repeated } = yield* ask(reward)
        assert.strictEqual(again, "direct")
        assert.deepStrictEqual(repeated, yield* routed(reward))
      }
    })
  )

  it.live("leaves every other request to the routes, with its body", () =>
    Effect.gen(function* () {
      const { ask, routed } = yield* server()
      yield* ask({ path: leases, body: leasesOf({ key: "known" }) })
      for (const sent of [
        { path: leases, body: "{" },
        { path: leases, body: "" },
        { path: leases, body: leasesOf() },
        { path: leases, body: JSON.stringify({ requests: [{ key: "a", color: "red" }] }) },
        { path: leases, body: leasesOf({ key: "known", n: 2 }) },
        { path: leases, body: JSON.stringify({ requests: [{ key: "a" }], cohort: "train/1" }) },
        { path: "/v1/populations/absent/leases", body: leasesOf({ key: "a" }) },
        { path: `${leases}?a=1`, body: leasesOf({ key: "known" }) },
        { path: leases, body: leasesOf({ key: "known" }), headers: { "content-type": "text/plain" } },
        { path: rewards, body: JSON.stringify({ rewards: [], close: { cohort: "train/1" } }) }
      ]) {
        const { way, ...answer } = yield* ask(sent)
        const said = JSON.stringify([sent, answer])
        assert.strictEqual(way, "routes", said)
        assert.deepStrictEqual(answer, yield* routed(sent), said)
      }
    })
  )

  it.live("is open to both keys, and to no other", () =>
    Effect.gen(function* () {
      const { ask } = yield* server({ admin: Redacted.make("admin-key"), lease: Redacted.make("lease-key") })
      const body = leasesOf({ key: "a" })
      const by = (headers: Readonly<Record<string, string>>) =>
        Effect.map(ask({ path: leases, body, headers: { ...json, ...headers } }), ({ status, way }) => [way, status])
      for (const key of ["admin-key", "lease-key"])
        assert.deepStrictEqual(yield* by({ authorization: `Bearer ${key}` }), ["direct", 200])
      for (const headers of [{}, { authorization: "Bearer other" }, { authorization: "Basic admin-key" }])
        assert.deepStrictEqual(yield* by(headers), ["routes", 401])
    })
  )
})

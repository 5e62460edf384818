import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, JsonPatch, Layer, Schema } from "effect"
import { HttpClient, HttpClientResponse, HttpRouter, HttpServerResponse } from "effect/http"
import { withDeltas } from "../page/Deltas.ts"
import { syntheticLog } from "../../../packages/analysis/test/support/SyntheticLog.ts"
import * as Deltas from "../src/Deltas.ts"
import { cost } from "../src/projection/Cost.ts"
import { lineage } from "../src/projection/Lineage.ts"
import { overview } from "../src/projection/Overview.ts"
import { population } from "../src/projection/Population.ts"
import * as Run from "../src/projection/Run.ts"
import * as RunRecord from "../src/RunRecord.ts"
import { config } from "./support/Log.ts"

let value: Schema.Json = null

const server = HttpRouter.toWebHandler(
  Layer.mergeAll(
    HttpRouter.add(
      "GET",
      "/value",
      Effect.sync(() => HttpServerResponse.jsonUnsafe(value))
    ),
    Deltas.layer
  ).pipe(Layer.provide(NodeHttpServer.layerHttpServices)),
  { disableLogger: true }
)

/** A client of the server, and the status and size of its responses before they are completed. */
const counted = () => {
  const received: Array<{ readonly status: number; readonly bytes: number }> = []
  const client = HttpClient.make((request, url) =>
    Effect.promise(async () => {
      const response = await server.handler(new Request(url, { headers: { ...request.headers } }))
      const body = await response.arrayBuffer()
      received.push({ status: response.status, bytes: body.byteLength })
      return HttpClientResponse.fromWeb(
        request,
        new Response(response.status === 304 ? null : body, { status: response.status, headers: response.headers })
      )
    })
  )
  return { received, client: withDeltas(client) }
}

const get = (client: HttpClient.HttpClient) =>
  Effect.flatMap(client.get("http://localhost:1234/value"), (response) => response.json)

afterAll(() => server.dispose())

describe("the views of a run", () => {
  it("change by the same number of bytes in each step, however long the run is", { tags: "deep" }, () => {
    const long = { ...config, schedule: { ...config.schedule, steps: 200, evolveUntil: 200 } }
    const log = syntheticLog(long, 30)
    const notes = { baseline: null, wallSeconds: null, degraded: [] }
    const written = { version: null, at: null, alive: null }
    let record = RunRecord.empty(long)
    let before: Readonly<Record<string, Schema.Json>> = {}
    const added = new Map<string, number>()
    for (const [place, event] of log.entries()) {
      record = RunRecord.observe(record, [event])
      const next = log[place + 1]
      if (!("step" in event) || (next !== undefined && "step" in next && next.step === event.step)) continue
      const isEarly = event.step >= 20 && event.step <= 40
      if (!isEarly && event.step < 180) continue
      const views: Readonly<Record<string, Schema.Json>> = JSON.parse(
        JSON.stringify({
          overview: overview(Run.run({ id: "run", name: "run" }, record, written, 0), record, notes),
          population: population(record),
          lineage: lineage(record),
          cost: cost(record, [], notes)
        })
      )
      if (event.step !== 20 && event.step !== 180)
        for (const [name, view] of Object.entries(views)) {
          const key = `${name} ${isEarly ? "early" : "late"}`
          added.set(key, (added.get(key) ?? 0) + JSON.stringify(JsonPatch.get(before[name] ?? null, view)).length)
        }
      before = views
    }
    for (const name of ["overview", "population", "lineage", "cost"]) {
      const early = added.get(`${name} early`) ?? 0
      assert.isAbove(early, 0, name)
      assert.isAtMost(added.get(`${name} late`) ?? Infinity, 1.5 * early, name)
    }
  })
})

describe("a client that requests deltas", () => {
  it.effect.prop("gets what a client without them gets", [Schema.Array(Schema.Json)], ([values]) =>
    Effect.gen(function* () {
      const { client } = counted()
      for (const changing of values) {
        // What does not change makes a patch shorter than the whole.
        value = { constant: "x".repeat(500), changing }
        assert.deepStrictEqual(yield* get(client), JSON.parse(JSON.stringify(value)))
      }
    })
  )

  it.effect("gets only what was added to a long list, and nothing if nothing changed", () =>
    Effect.gen(function* () {
      const { client, received } = counted()
      value = Array.from({ length: 1000 }, (_, index) => index)
      yield* get(client)
      value = [...value, 1000]
      assert.deepStrictEqual(yield* get(client), value)
      assert.deepStrictEqual(yield* get(client), value)
      const [, delta, none] = received
      assert.deepStrictEqual([delta?.status, none?.status, none?.bytes], [226, 304, 0])
      assert.isBelow(delta?.bytes ?? Infinity, 60)
    })
  )

  it.effect("gets the whole from a server that does not know its version any more", () =>
    Effect.gen(function* () {
      const { client, received } = counted()
      for (let index = 0; index < 100; index++) {
        value = { constant: "x".repeat(500), index }
        yield* get(index === 0 ? client : counted().client)
      }
      assert.deepStrictEqual(yield* get(client), value)
      assert.deepStrictEqual(
        received.map(({ status }) => status),
        [200, 200]
      )
    })
  )
})

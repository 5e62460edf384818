import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Gauges, Point } from "@inspo/tracking"
import { Effect, Layer, Metric } from "effect"
import { FetchHttpClient, HttpClient, HttpRouter, HttpServer } from "effect/http"
import { PrometheusMetrics } from "effect/observability"

/** Reads Prometheus's text format (0.0.4): the value of each series, `name{label="value"}` with labels as written. */
const parse = (text: string): Map<string, number> => {
  const series = new Map<string, number>()
  const types = new Set<string>()
  for (const line of text.split("\n").slice(0, -1)) {
    const [, declared] = /^# TYPE ([a-zA-Z_:][\w:]*) (?:gauge|counter)$/u.exec(line) ?? []
    if (declared !== undefined) types.add(declared)
    if (line.startsWith("#")) continue
    const [, name, labels = "", value] =
      /^([a-zA-Z_:][\w:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)$/u.exec(line) ?? []
    if (name === undefined || !types.has(name)) throw new Error(`no series: ${line}`)
    series.set(name + labels, Number(value))
  }
  return series
}

const scrape = Effect.gen(function* () {
  const { address } = yield* HttpServer.HttpServer
  const port = "port" in address ? address.port : 0
  const response = yield* HttpClient.get(`http://127.0.0.1:${port}/metrics`)
  assert.include(response.headers["content-type"], "text/plain")
  return parse(yield* response.text)
})

const server = HttpRouter.serve(PrometheusMetrics.layerHttp(), { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.merge(FetchHttpClient.layer)
)

describe("Prometheus", () => {
  it.effect("serves the latest values, and none of instructions that left", () =>
    Effect.gen(function* () {
      const tracker = yield* Gauges.make
      const values = (step: number, ...ids: ReadonlyArray<string>): Point.Point => ({
        step,
        samples: [
          { name: "loss", label: null, value: step / 8 },
          ...ids.map((label, index) => ({ name: "inspo/value" as const, label, value: index / 4 }))
        ]
      })
      yield* tracker.begin({ name: "mine", settings: {} }, [values(1, "i0", "i1", "i2")])
      const before = yield* scrape
      assert.strictEqual(before.get('inspo_value{instruction="i1"}'), 0.25)
      assert.strictEqual(before.get("inspo_step"), 1)
      yield* tracker.log(values(2, "i0", "i2"))
      yield* tracker.log({ step: 2, samples: [{ name: "val/reward", label: 'a"b\\c', value: 1 }] })
      assert.deepStrictEqual(
        [...(yield* scrape)].toSorted(([a], [b]) => (a < b ? -1 : 1)),
        [
          ["inspo_loss", 0.25],
          ["inspo_step", 2],
          ['inspo_val_reward{source="a\\"b\\\\c"}', 1],
          ['inspo_value{instruction="i0"}', 0],
          ['inspo_value{instruction="i2"}', 0.25]
        ]
      )
    }).pipe(Effect.provide(server), Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it("gives every metric a name of its own", () => {
    const names = Point.names.map((name) => Gauges.gaugeName(name).replaceAll(/\W/gu, "_"))
    assert.strictEqual(new Set(names).size, names.length)
  })
})

import { createServer } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Gauges } from "@inspo/tracking"
import * as OpenTelemetry from "@inspo/tracking/OpenTelemetry"
import { ConfigProvider, Effect, Layer, Logger, Metric, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"

const Value = Schema.Struct({ stringValue: Schema.optionalKey(Schema.String) })
const Attributes = Schema.Array(Schema.Struct({ key: Schema.String, value: Value }))
const Resource = Schema.Struct({ attributes: Attributes })

/** The parts of OTLP/JSON that are looked at; see opentelemetry-proto. */
const Traces = Schema.Struct({
  resourceSpans: Schema.Array(
    Schema.Struct({
      resource: Resource,
      scopeSpans: Schema.Array(
        Schema.Struct({
          spans: Schema.Array(Schema.Struct({ name: Schema.String, traceId: Schema.String, attributes: Attributes }))
        })
      )
    })
  )
})
const Metrics = Schema.Struct({
  resourceMetrics: Schema.Array(
    Schema.Struct({
      resource: Resource,
      scopeMetrics: Schema.Array(
        Schema.Struct({
          metrics: Schema.Array(
            Schema.Struct({
              name: Schema.String,
              gauge: Schema.optionalKey(
                Schema.Struct({
                  dataPoints: Schema.Array(
                    Schema.Struct({ attributes: Attributes, asDouble: Schema.optionalKey(Schema.Finite) })
                  )
                })
              )
            })
          )
        })
      )
    })
  )
})
const Logs = Schema.Struct({
  resourceLogs: Schema.Array(
    Schema.Struct({
      scopeLogs: Schema.Array(Schema.Struct({ logRecords: Schema.Array(Schema.Struct({ body: Value })) }))
    })
  )
})

/** An HTTP server that keeps what it is sent, by path. */
const collector = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly received: Map<string, Array<string>>; readonly close: () => void }>(
    (resume) => {
      const received = new Map<string, Array<string>>()
      const server = createServer((request, response) => {
        let body = `${JSON.stringify(request.headers)}\n`
        request.on("data", (chunk: Buffer) => (body += chunk.toString()))
        request.on("end", () => {
          received.set(request.url ?? "", [...(received.get(request.url ?? "") ?? []), body])
          response.writeHead(200, { "content-type": "application/json" }).end("{}")
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, received, close: () => server.close() }))
      })
    }
  ),
  ({ close }) => Effect.sync(close)
)

/** What a process does, with telemetry as the environment asks for it. */
const traced = (environment: Record<string, string>, work: Effect.Effect<void, unknown, HttpClient.HttpClient>) =>
  Effect.ignore(work).pipe(
    Effect.provide(
      OpenTelemetry.layer.pipe(
        Layer.provideMerge(
          Layer.mergeAll(
            FetchHttpClient.layer,
            Logger.layer([]),
            ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment))
          )
        )
      ),
      { local: true }
    ),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )

const document = <A, I>(schema: Schema.Codec<A, I>, bodies: ReadonlyArray<string> | undefined): ReadonlyArray<A> =>
  (bodies ?? []).map((body) => Schema.decodeSync(Schema.fromJsonString(schema))(body.slice(body.indexOf("\n"))))

describe("OpenTelemetry", () => {
  it.live("sends spans, metrics and logs to the endpoint, and no secret", () =>
    Effect.gen(function* () {
      const { received, url } = yield* collector
      const secret = "s3cret"
      const request = HttpClientRequest.get(
        `${url.replace("://", `://me:${secret}@`)}/engine?api_key=${secret}&n=1`
      ).pipe(HttpClientRequest.setHeaders({ "x-api-key": secret, "x-goog-api-key": secret, authorization: secret }))
      yield* traced(
        { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_RESOURCE_ATTRIBUTES: "team=search" },
        Effect.gen(function* () {
          const tracker = yield* Gauges.make
          yield* tracker.log({ step: 3, samples: [{ name: "inspo/value", label: "i3", value: 0.5 }] })
          yield* Effect.logInfo("hello")
          yield* HttpClient.execute(request)
        }).pipe(Effect.withSpan("Run.run"))
      )
      const spans = document(Traces, received.get("/v1/traces")).flatMap(({ resourceSpans }) => resourceSpans)
      assert.deepInclude(spans[0]?.resource.attributes ?? [], { key: "service.name", value: { stringValue: "inspo" } })
      assert.deepInclude(spans[0]?.resource.attributes ?? [], { key: "team", value: { stringValue: "search" } })
      const all = spans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
      assert.sameMembers(
        all.map(({ name }) => name),
        ["Run.run", "GET"]
      )
      assert.strictEqual(new Set(all.map(({ traceId }) => traceId)).size, 1)

      const metrics = document(Metrics, received.get("/v1/metrics")).flatMap(({ resourceMetrics }) =>
        resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
      )
      const value = metrics.find(({ name }) => name === "inspo.value")?.gauge?.dataPoints[0]
      assert.strictEqual(value?.asDouble, 0.5)
      assert.deepInclude(value?.attributes ?? [], { key: "instruction", value: { stringValue: "i3" } })

      const logs = document(Logs, received.get("/v1/logs")).flatMap(({ resourceLogs }) =>
        resourceLogs.flatMap(({ scopeLogs }) =>
          scopeLogs.flatMap(({ logRecords }) => logRecords.map(({ body }) => body.stringValue))
        )
      )
      assert.include(logs, "hello")

      const sent = [...received].flatMap(([path, bodies]) => (path.startsWith("/v1/") ? bodies : []))
      assert.isAbove(sent.length, 2)
      for (const body of sent) assert.notInclude(body, secret)
    }).pipe(Effect.scoped)
  )

  it.live("brings the headers that the environment names, and leaves out what it turns off", () =>
    Effect.gen(function* () {
      const { received, url } = yield* collector
      yield* traced(
        {
          OTEL_EXPORTER_OTLP_ENDPOINT: url,
          OTEL_EXPORTER_OTLP_HEADERS: "api-key=k1",
          OTEL_METRICS_EXPORTER: "none"
        },
        Effect.void.pipe(Effect.withSpan("Run.run"))
      )
      assert.deepStrictEqual([...received.keys()], ["/v1/traces"])
      assert.include(received.get("/v1/traces")?.[0], '"api-key":"k1"')
    }).pipe(Effect.scoped)
  )

  it.live("neither fails nor waits for what is not there", () =>
    Effect.forEach(["http://127.0.0.1:9", "no address", "", "grpc://x"], (endpoint) =>
      traced(
        { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TIMEOUT: "100" },
        Effect.withSpan(Effect.void, "Run.run")
      )
    )
  )
})

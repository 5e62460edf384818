import { ConfigProvider, Effect, Layer } from "effect"
import { FetchHttpClient, HttpBody } from "effect/http"
import { Otlp, OtlpSerialization } from "effect/observability"
import { withoutCredentials } from "./Credentials.ts"

/**
 * Sends traces, metrics and logs of the process, as OTLP in JSON, to the collector that the standard environment variables
 * name: `OTEL_EXPORTER_OTLP_ENDPOINT`, or one per signal, and whatever else OpenTelemetry defines for its exporters, such
 * as `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_METRIC_EXPORT_INTERVAL`, `OTEL_TRACES_EXPORTER=none` and `OTEL_SDK_DISABLED`.
 *
 * A collector that does not answer delays nothing; variables that cannot be used are reported in a warning, and nothing is
 * sent. Traces of requests hold no headers; credentials in addresses are cut out of whatever text is sent.
 */
export const layer: Layer.Layer<never> = Layer.suspend(() => exporters).pipe(
  Layer.catchCause(() =>
    Layer.effectDiscard(
      Effect.logWarning(
        "No telemetry is sent: an OTEL_ variable cannot be used. Expected a URL such as http://127.0.0.1:4318 in " +
          "OTEL_EXPORTER_OTLP_ENDPOINT, and in the others what OpenTelemetry defines for them."
      )
    )
  )
)

const body = (data: unknown): HttpBody.HttpBody =>
  HttpBody.text(
    JSON.stringify(data, (_, value: unknown) => {
      if (typeof value === "string") return withoutCredentials(value)
      // OTLP writes these as texts, where JSON has no numbers for them.
      return typeof value === "number" && !Number.isFinite(value) ? String(value) : value
    }),
    "application/json"
  )

const exporters = Otlp.layerFromConfig().pipe(
  Layer.provide(Layer.succeed(OtlpSerialization.OtlpSerialization, { traces: body, metrics: body, logs: body })),
  Layer.provide(FetchHttpClient.layer),
  // A redirect could carry a key among OTEL_EXPORTER_OTLP_HEADERS to another server.
  Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" })),
  Layer.provide(
    ConfigProvider.layerAdd(
      ConfigProvider.fromUnknown({
        OTEL_SERVICE_NAME: "inspo",
        OTEL_TRACES_EXPORTER: ["otlp"],
        OTEL_METRICS_EXPORTER: ["otlp"],
        OTEL_LOGS_EXPORTER: ["otlp"]
      })
    )
  )
)

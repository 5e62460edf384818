import { Config, Effect, Layer } from "effect"

/** Whether the environment names a collector of OpenTelemetry. */
export const isWanted: Effect.Effect<boolean> = Config.all(
  ["", "TRACES_", "METRICS_", "LOGS_"].map((signal) =>
    Config.withDefault(Config.String(`OTEL_EXPORTER_OTLP_${signal}ENDPOINT`), "")
  )
).pipe(
  Effect.map((endpoints) => endpoints.some((endpoint) => endpoint.trim() !== "")),
  Effect.orElseSucceed(() => false)
)

/** Sends traces, metrics and logs of the process to the collector that the environment names; else nothing is loaded. */
export const layer: Layer.Layer<never> = Layer.unwrap(
  Effect.flatMap(isWanted, (wanted) =>
    wanted
      ? Effect.map(
          Effect.promise(() => import("@inspo/tracking/OpenTelemetry")),
          (openTelemetry) => openTelemetry.layer
        )
      : Effect.succeed(Layer.empty)
  )
)

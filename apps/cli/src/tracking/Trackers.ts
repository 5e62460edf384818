import { Credentials, type Point } from "@inspo/tracking"
import { Config, Effect, Option, type Redacted } from "effect"
import { nearest } from "../config/Suggestion.ts"
import { type UsageError, usageError } from "../Failure.ts"

export type Tracker =
  | { readonly _tag: "TensorBoard" }
  | {
      readonly _tag: "Mlflow"
      readonly url: string
      readonly token: Redacted.Redacted | null
      readonly experiment: string
    }
  | { readonly _tag: "Prometheus"; readonly host: string; readonly port: number }

export interface Tracking {
  readonly trackers: ReadonlyArray<Tracker>
  readonly naming: Point.Naming
}

export interface TrackingInput {
  readonly track: ReadonlyArray<string>
  readonly trackNames: Point.Naming
}

/**
 * Reads `--track tensorboard`, `mlflow[=URL]` and `prometheus[=[HOST:]PORT]`. The environment variables of MLflow's own clients
 * apply here, too: `MLFLOW_TRACKING_URI`, `_TOKEN` and `MLFLOW_EXPERIMENT_NAME`.
 */
export const fromInput = Effect.fnUntraced(function* ({ track, trackNames }: TrackingInput) {
  return { trackers: yield* Effect.forEach(track, parse), naming: trackNames } satisfies Tracking
})

const parse = (text: string): Effect.Effect<Tracker, UsageError> => {
  const [name = "", ...rest] = text.split("=")
  const value = rest.length === 0 ? null : rest.join("=")
  switch (name) {
    case "tensorboard":
      return value === null
        ? Effect.succeed({ _tag: "TensorBoard" })
        : refuse(text, "tensorboard alone", "It writes to the directory of the run.")
    case "mlflow":
      return mlflow(text, value)
    case "prometheus":
      return prometheus(text, value ?? "9464")
    default:
      return refuse(
        text,
        `one of ${names.join(", ")}`,
        Option.match(nearest(name, names), {
          onNone: () => "OTLP needs no flag: set OTEL_EXPORTER_OTLP_ENDPOINT. W&B reads the files of tensorboard.",
          onSome: (meant) => `Did you mean ${meant}?`
        })
      )
  }
}

const mlflow = Effect.fnUntraced(function* (text: string, value: string | null) {
  const { experiment, token, uri } = yield* Effect.orDie(environment)
  const url = value ?? Option.getOrElse(uri, () => "")
  if (!/^https?:$/u.test(URL.parse(url)?.protocol ?? ""))
    return yield* refuse(
      value === null ? `mlflow, and MLFLOW_TRACKING_URI is ${JSON.stringify(url)}` : text,
      "the address of a tracking server such as mlflow=http://127.0.0.1:5000",
      "Start one with `mlflow server`."
    )
  return { _tag: "Mlflow", url, token: Option.getOrNull(token), experiment } as const
})

const environment = Config.all({
  uri: Config.option(Config.String("MLFLOW_TRACKING_URI")),
  token: Config.option(Config.Redacted("MLFLOW_TRACKING_TOKEN")),
  experiment: Config.withDefault(Config.String("MLFLOW_EXPERIMENT_NAME"), "inspo")
})

const prometheus = (text: string, value: string): Effect.Effect<Tracker, UsageError> => {
  const [, host = "127.0.0.1", port] = /^(?:(.+):)?(\d{1,5})$/u.exec(value) ?? []
  return port === undefined || Number(port) > 65_535
    ? refuse(
        text,
        "prometheus, prometheus=PORT or prometheus=HOST:PORT",
        "Without a host only this machine can read it."
      )
    : Effect.succeed({ _tag: "Prometheus", host, port: Number(port) })
}

const names = ["tensorboard", "mlflow", "prometheus"]

const refuse = (value: string, expected: string, remedy: string): Effect.Effect<never, UsageError> =>
  Effect.fail(usageError(`--track is ${Credentials.withoutCredentials(value)}, expected ${expected}. ${remedy}`))

import { Credentials } from "@inspo/tracking"
import { Effect, Option } from "effect"
import { nearest } from "../config/Suggestion.ts"
import { type UsageError, usageError } from "../Failure.ts"

export type Tracker =
  | { readonly _tag: "TensorBoard" }
  | { readonly _tag: "Prometheus"; readonly host: string; readonly port: number }

export interface TrackingInput {
  readonly track: ReadonlyArray<string>
}

/** Reads `--track tensorboard` and `prometheus[=[HOST:]PORT]`. */
export const fromInput = ({ track }: TrackingInput): Effect.Effect<ReadonlyArray<Tracker>, UsageError> =>
  Effect.forEach(track, parse)

const parse = (text: string): Effect.Effect<Tracker, UsageError> => {
  const [name = "", ...rest] = text.split("=")
  const value = rest.length === 0 ? null : rest.join("=")
  switch (name) {
    case "tensorboard":
      return value === null
        ? Effect.succeed({ _tag: "TensorBoard" })
        : refuse(text, "tensorboard alone", "It writes to the directory of the run.")
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

const names = ["tensorboard", "prometheus"]

const refuse = (value: string, expected: string, remedy: string): Effect.Effect<never, UsageError> =>
  Effect.fail(usageError(`--track is ${Credentials.withoutCredentials(value)}, expected ${expected}. ${remedy}`))

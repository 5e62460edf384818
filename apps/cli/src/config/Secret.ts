import { Config, Effect, type Redacted } from "effect"

/**
 * The secret in an environment variable. If it is not set, `onMissing` makes the error from a message: `setting` is the setting
 * that names the variable, `secret` describes its value.
 */
export const fromEnvironment = <E>(
  variable: string,
  setting: string,
  secret: string,
  onMissing: (problem: string) => E
): Effect.Effect<Redacted.Redacted, E> =>
  Effect.mapError(Config.Redacted(variable), () =>
    onMissing(`${setting} is ${variable}, which is not set in the environment; set it to ${secret}`)
  )

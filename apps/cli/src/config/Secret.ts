import { Config, Effect, type Redacted } from "effect"

/**
 * The secret in an environment variable. Where the environment does not hold it, `onMissing` makes the error from what is
 * wrong: `setting` is what named the variable, and `secret` what it should be set to.
 */
export const fromEnvironment = <E>(
  variable: string,
  setting: string,
  secret: string,
  onMissing: (problem: string) => E
): Effect.Effect<Redacted.Redacted, E> =>
  Effect.mapError(Config.Redacted(variable), () =>
    onMissing(`${setting} is ${variable}, which the environment does not hold; set it to ${secret}`)
  )

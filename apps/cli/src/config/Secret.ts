import { Config, Effect, Option, Redacted } from "effect"
import { type UsageError, usageError } from "../Failure.ts"

/**
 * The secret in an environment variable. If it is not set, or empty, `onMissing` makes the error from a message: `setting` is the setting
 * that names the variable, `secret` describes its value.
 */
export const fromEnvironment = <E>(
  variable: string,
  setting: string,
  secret: string,
  onMissing: (problem: string) => E
): Effect.Effect<Redacted.Redacted, E> =>
  Config.Redacted(variable).pipe(
    // Anyone without a key has the empty one.
    Effect.filterOrFail((key) => Redacted.value(key) !== ""),
    Effect.mapError(() =>
      onMissing(`${setting} is ${variable}, which is not set in the environment; set it to ${secret}`)
    )
  )

/** The secret in the variable that a flag names, or undefined without the flag. */
export const ofFlag = (
  flag: string,
  variable: Option.Option<string>,
  secret: string
): Effect.Effect<Redacted.Redacted | undefined, UsageError> =>
  Option.match(variable, {
    onNone: () => Effect.succeed(undefined),
    onSome: (name) => fromEnvironment(name, flag, secret, (problem) => usageError(`${problem}.`))
  })

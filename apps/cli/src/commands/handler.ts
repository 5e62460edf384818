import { Context, Effect } from "effect"

/** Whether `--json` was given: a command prints one document on standard output, and everything else on standard error. */
export const JsonFlag = Context.Reference<boolean>("@inspo/cli/JsonFlag", { defaultValue: () => false })

/** Whether log lines are JSON. */
export const JsonLogs = Context.Reference<boolean>("@inspo/cli/JsonLogs", { defaultValue: () => false })

/** Whether `--trust` was given: the user consents to what the directories of this command name. */
export const TrustFlag = Context.Reference<boolean>("@inspo/cli/TrustFlag", { defaultValue: () => false })

/** Runs a command with code that is loaded only when it is called, so that no command loads what only another one needs. */
export const handler =
  <I, A, E, R>(load: () => Promise<(input: I) => Effect.Effect<A, E, R>>) =>
  (input: I): Effect.Effect<A, E, R> =>
    Effect.provideService(
      Effect.flatMap(Effect.promise(load), (command) => command(input)),
      JsonFlag,
      typeof input === "object" && input !== null && "json" in input && input.json === true
    )

/** For a command with nothing to save: a signal ends it at once, also during a computation, which shells show as exit code 130 or 143. */
export const reader =
  <I, A, E, R>(load: () => Promise<(input: I) => Effect.Effect<A, E, R>>) =>
  (input: I): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.removeAllListeners(signal)
      return handler(load)(input)
    })

/** A command under the user's answer to what its directories name. */
export const trusting =
  <I, A, E, R>(command: (input: I) => Effect.Effect<A, E, R>) =>
  (input: I & { readonly trust: boolean }): Effect.Effect<A, E, R> =>
    Effect.provideService(command(input), TrustFlag, input.trust)

import { Effect } from "effect"
import { Given } from "../runDirectory/Given.ts"

/** Loads a command's code only when it is called, so that no command waits for what another one needs. */
export const handler = <M, A, E, R>(
  load: () => Promise<M>,
  use: (module: M) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.flatMap(Effect.promise(load), use)

/** A command under the user's answer to what its directories name. */
export const trusting = <A, E, R>(trust: boolean, command: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(command, Given, trust)

/**
 * The same for a command that has nothing to save: a signal ends it in the middle of a computation, too, as it ends any
 * program. Shells show that as exit code 130 or 143.
 */
export const readerHandler = <M, A, E, R>(
  load: () => Promise<M>,
  use: (module: M) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.andThen(
    Effect.sync(() => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.removeAllListeners(signal)
    }),
    handler(load, use)
  )

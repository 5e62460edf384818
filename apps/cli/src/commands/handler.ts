import { Cause, Effect } from "effect"

/**
 * Loads a command's code only when it is called, so that no command waits for what another one needs. Faults of the
 * program itself are logged with their traces under `--log-level debug`.
 */
export const handler = <M, A, E, R>(
  load: () => Promise<M>,
  use: (module: M) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.promise(load), use).pipe(
    Effect.tapCause((cause) => (Cause.hasDies(cause) ? Effect.logDebug(cause) : Effect.void))
  )

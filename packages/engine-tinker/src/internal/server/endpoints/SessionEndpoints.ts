import { Clock, Duration, Effect, Schedule } from "effect"
import type { Parts } from "./Parts.ts"
import type * as Wire from "../../../Wire.ts"

/** How sessions begin and end. Those that are silent, and checkpoints whose time is over, end by themselves. */
export const make = Effect.fnUntraced(function* (options: Parts) {
  const { futures, models, samplers, sessions } = options

  /** Ends a session with all that is its own. */
  const end = Effect.fnUntraced(function* (id: string) {
    sessions.forget(id)
    samplers.forgetOfSession(id)
    yield* futures.end(id)
    yield* models.freeOfSession(id)
  })

  yield* Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const since = now - Duration.toMillis(options.sessionTimeout)
    for (const [id, last] of sessions.lastHeard) if (last <= since) yield* end(id)
    yield* futures.abandon(since)
    yield* options.checkpoints.expire(now)
  }).pipe(Effect.repeat(Schedule.spaced("10 seconds")), Effect.forkScoped)

  return {
    createSession: Effect.map(sessions.open, (session_id) => ({ type: "create_session", session_id })),
    heartbeat: ({ session_id }: typeof Wire.HeartbeatRequest.Type) =>
      Effect.as(sessions.asked(session_id), { type: "session_heartbeat" }),
    finishSession: (id: string) => Effect.andThen(sessions.asked(id), end(id)),
    sessionInfo: (id: string) =>
      Effect.map(sessions.check(id), () => ({
        training_run_ids: models.idsOf(id),
        sampler_ids: samplers.idsOf(id)
      })),
    sessionIds: () => Array.from(sessions.lastHeard.keys())
  }
})

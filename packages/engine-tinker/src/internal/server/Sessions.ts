import { Clock, Effect, Random } from "effect"
import { known, refuse } from "./Refusal.ts"

export type Sessions = ReturnType<typeof make>

/** The sessions of all clients; no more than `most` are open at once. */
export const make = (most: number) => {
  /** When each session was last heard of, in milliseconds. */
  const lastHeard = new Map<string, number>()
  /** Refuses a session that is not open. */
  const check = (id: string) => Effect.asVoid(known(lastHeard, "Session", id))
  /** A request came that belongs to a session, whether open or not. */
  const heard = (id: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (lastHeard.has(id)) lastHeard.set(id, now)
    })
  return {
    lastHeard,
    /** Opens a session and returns its id; refused when too many are open. */
    open: Effect.gen(function* () {
      if (lastHeard.size >= most)
        return yield* refuse(`${lastHeard.size} sessions are open, expected fewer than ${most}`, 429)
      const id = `session_${yield* word}`
      lastHeard.set(id, yield* Clock.currentTimeMillis)
      return id
    }),
    check,
    /** As `check`; the session was heard of by that. */
    asked: (id: string) => Effect.andThen(check(id), heard(id)),
    heard,
    forget: (id: string) => void lastHeard.delete(id)
  }
}

/** 16 hexadecimal digits, drawn again each time. */
export const word = Effect.map(
  Effect.all([Random.nextIntBetween(0, 0xffffffff), Random.nextIntBetween(0, 0xffffffff)]),
  (halves) => halves.map((half) => half.toString(16).padStart(8, "0")).join("")
)

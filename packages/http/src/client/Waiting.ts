import { Clock, Duration, Effect } from "effect"

/** Logs that a client waits for `what`, and why. */
export type Waiting = (what: string, why: string) => Effect.Effect<void>

/**
 * Logs what a client waits for, so that a wait does not look like a hang: the first time at once, then at growing intervals
 * of 10 s to 5 min, for all requests of one kind together.
 */
export const make = (server: string): Waiting => {
  const said = new Map<string, { readonly at: number; readonly gap: number }>()
  return Effect.fnUntraced(function* (what, why) {
    const now = yield* Clock.currentTimeMillis
    const last = said.get(what)
    if (last !== undefined && now - last.at < last.gap) return
    // After a pause the wait is logged at once again.
    const isOngoing = last !== undefined && now - last.at < 2 * last.gap + shortest
    said.set(what, { at: now, gap: isOngoing ? Math.min(2 * last.gap, longest) : shortest })
    yield* Effect.logWarning(`waiting for ${server}: ${what}: ${why}`)
  })
}

/** A duration as text: in whole seconds, or in milliseconds below one. */
export const span = (milliseconds: number): string =>
  Duration.format(Duration.millis(milliseconds < 1000 ? milliseconds : Math.round(milliseconds / 1000) * 1000))

/** Milliseconds before the next retry, after so many retries: 0.5 s, doubled with each, at most 30 s. */
export const backoff = (repeated: number): number => Math.min(500 * 2 ** repeated, 30_000)

const shortest = 10_000
const longest = 300_000

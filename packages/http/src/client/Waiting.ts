import { Clock, Duration, Effect } from "effect"

/** Reports that `what` is waited for, and why. */
export type Waiting = (what: string, why: string) => Effect.Effect<void>

/**
 * Says in the log what a server is waited for, so that retryBudget does not look like a hang: the first time at once, then
 * ever more seldom, from every 10 s to every 5 min, for requests of one kind together.
 */
export const make = (server: string): Waiting => {
  const said = new Map<string, { readonly at: number; readonly gap: number }>()
  return Effect.fnUntraced(function* (what, why) {
    const now = yield* Clock.currentTimeMillis
    const last = said.get(what)
    if (last !== undefined && now - last.at < last.gap) return
    // What was quiet for a while is news again.
    const goesOn = last !== undefined && now - last.at < 2 * last.gap + shortest
    said.set(what, { at: now, gap: goesOn ? Math.min(2 * last.gap, longest) : shortest })
    yield* Effect.logWarning(`waiting for ${server}: ${what}: ${why}`)
  })
}

/** A span as people say it: in whole seconds, or in milliseconds below one. */
export const span = (milliseconds: number): string =>
  Duration.format(Duration.millis(milliseconds < 1000 ? milliseconds : Math.round(milliseconds / 1000) * 1000))

/** Milliseconds before a request is sent again, after so many repetitions: 0.5 s, doubled with each, at most 30 s. */
export const backoff = (repeated: number): number => Math.min(500 * 2 ** repeated, 30_000)

const shortest = 10_000
const longest = 300_000

/** How long a sealed cohort waits for rewards: as long as is set, or as long as rewards were seen to take. */
import { milliseconds } from "./Settings.ts"
import type { State } from "./State.ts"

/**
 * In milliseconds, null for no limit. `observed`: three times what the last reward took in any of the cohorts settled last,
 * at least an hour and at most a day; a day until five cohorts were seen since a reward came late.
 */
export const horizonOf = ({
  settings: { horizonSeconds },
  waits
}: Pick<State, "settings" | "waits">): number | null => {
  if (horizonSeconds !== "observed") return milliseconds(horizonSeconds)
  return waits.length < fewest ? longest : Math.min(longest, Math.max(shortest, slack * Math.max(...waits)))
}

/** The waits after one more, where it is known. */
export const waited = (waits: ReadonlyArray<number>, wait: number | undefined): ReadonlyArray<number> =>
  wait === undefined ? waits : [...waits, wait].slice(-kept)

/** What an observed horizon is at least. */
export const shortest = 3_600_000
const longest = 24 * shortest
const slack = 3
const fewest = 5
const kept = 20

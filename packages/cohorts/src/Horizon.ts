/** When time alone seals a cohort, and when it settles one: a sealed cohort waits as long as is set, or as rewards were observed to take. */
import { milliseconds } from "./Settings.ts"
import type { Cohort, State } from "./State.ts"

/**
 * In milliseconds, null for no limit. `observed`: three times what the last reward took in any of the cohorts completed last,
 * at least an hour and at most a day; a day until five cohorts were seen since a reward came late.
 */
export const horizonOf = ({
  settings: { horizonSeconds },
  waits
}: Pick<State, "settings" | "waits">): number | null => {
  if (horizonSeconds !== "observed") return milliseconds(horizonSeconds)
  return waits.length < fewest
    ? longestHorizon
    : Math.min(longestHorizon, Math.max(shortest, slack * Math.max(...waits)))
}

/** When an open cohort is sealed by its age; null without a limit. */
export const sealsAt = ({ settings }: Pick<State, "settings">, { openedAt }: Cohort): number | null => {
  const sealAfter = milliseconds(settings.sealAfterSeconds)
  return sealAfter === null ? null : openedAt + sealAfter
}

/** When a cohort that is sealed at this time is settled at the latest; null without a limit. */
export const settlesAt = (state: Pick<State, "settings" | "waits">, sealedAt: number | null): number | null => {
  const horizon = horizonOf(state)
  return horizon === null || sealedAt === null ? null : sealedAt + horizon
}

/** The waits after one more, if it is known. */
export const waited = (waits: ReadonlyArray<number>, wait: number | undefined): ReadonlyArray<number> =>
  wait === undefined ? waits : [...waits, wait].slice(-keptWaits)

/** What an observed horizon is at least. */
export const shortest = 3_600_000
const longestHorizon = 24 * shortest
const slack = 3
const fewest = 5
const keptWaits = 20

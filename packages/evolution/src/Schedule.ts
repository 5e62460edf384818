/** The units of time after which decisions are due. */
import type { Settings } from "./Settings.ts"

/**
 * While evolution is `isPaused`, nothing is decided, but groups are still observed. `parents` is N_parent. With `resetsWindows`
 * all values begin again after an evolution, as in the paper.
 */
export interface Schedule {
  readonly parents: number
  readonly resetsWindows: boolean
  readonly isPaused: boolean
  readonly prunes: (step: number) => boolean
  readonly evolves: (step: number) => boolean
  /** Whether another evolution begins, after the first one, if nothing was rewarded until then; absent: never. */
  readonly searches?: (step: number) => boolean
}

/** The schedule of some settings, while evolution is not paused. */
export const ofSettings = ({ population, schedule }: Pick<Settings, "population" | "schedule">): Schedule => ({
  parents: population.parents,
  resetsWindows: false,
  isPaused: false,
  prunes: (step) => divides(schedule.pruneEvery, step),
  evolves: (step) => divides(schedule.evolveEvery, step) && step <= (schedule.evolveUntil ?? Infinity),
  searches: (step) => divides(schedule.searchEvery ?? 0, step)
})

/** Whether every `period`-th unit of time is meant, 0 for none. */
export const divides = (period: number, step: number): boolean => period > 0 && step % period === 0

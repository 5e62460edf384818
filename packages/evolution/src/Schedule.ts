/** The units of time after which decisions are due, and the settings of these that hosts share. */
import { Schema } from "effect"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Positive = Schema.Int.check(Schema.isGreaterThan(0))

/** How often a population evolves before its first reward. */
export const SearchEvery = Count.annotate({
  description:
    "Steps or cohorts between two evolutions as long as nothing was ever rewarded, from the first evolution on and also " +
    "after T_e; 0 for `evolveEvery` and T_e alone. Only where candidates join without verification"
})

/**
 * The settings that runs and served populations share: one name and one meaning each, in units of time: steps of a run
 * or cohorts of a served population. Each host adds its own.
 */
export const Settings = Schema.Struct({
  randomSeed: Schema.Int.annotate({ description: "Seed of every random choice" }),
  population: Schema.Struct({
    size: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 200 })).annotate({
      description: "N_P: the largest number of instructions after an evolution. 1 without evolution is normal GRPO"
    }),
    parents: Positive.annotate({
      description:
        "N_parent: the number of parents of an evolution, which is also the fewest instructions that pruning leaves"
    })
  }),
  schedule: Schema.Struct({
    pruneEvery: Count.annotate({ description: "K_p: steps or cohorts between two prunings; 0 for never" }),
    evolveEvery: Count.annotate({ description: "K_e: steps or cohorts between two evolutions; 0 for never" }),
    evolveUntil: Schema.NullOr(Count).annotate({
      description: "T_e: the last step or cohort after which an evolution can begin; null for no limit"
    }),
    searchEvery: Schema.optionalKey(SearchEvery)
  })
})
export interface Settings extends Schema.Schema.Type<typeof Settings> {}

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

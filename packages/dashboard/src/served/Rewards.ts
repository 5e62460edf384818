import { Summary } from "@inspo/cohorts"
import { Interval } from "@inspo/statistics"

/** A closed cohort by its index. */
export interface CohortRewards {
  readonly cohort: number
  readonly tallies: Readonly<Record<string, Summary.Tally>>
}

/** The closed cohorts of the present branch in order, and the decisions after them. */
export interface Rewards {
  readonly cohorts: ReadonlyArray<CohortRewards>
  readonly marks: ReadonlyArray<{ readonly kind: "prune" | "evolve"; readonly step: number }>
}

export const none: Rewards = { cohorts: [], marks: [] }

/** The rewards after one more event. Cohorts that a rewind gave up do not count. */
export const after = (before: Rewards, event: Summary.SummaryEvent): Rewards => {
  switch (event._tag) {
    case "Closed":
      return { ...before, cohorts: [...before.cohorts, { cohort: event.index, tallies: event.tallies }] }
    case "Rewound": {
      const { step } = event.learning.population
      return {
        cohorts: before.cohorts.filter(({ cohort }) => cohort <= step),
        marks: before.marks.filter((mark) => mark.step <= step)
      }
    }
    case "Pruned":
      return event.pruned.length === 0 ? before : marked(before, "prune")
    case "PopulationRefilled":
      return event.accepted.length === 0 ? before : marked(before, "evolve")
    default:
      return before
  }
}

/** Mean rewards in [0, 1] over cohorts. `cohorts[i]` is the last cohort of the stretch that the point `i` is the mean of. */
export interface Series {
  readonly cohorts: ReadonlyArray<number>
  /** How many cohorts a point covers; the last one may have fewer. */
  readonly width: number
  readonly of: ReadonlyMap<string, ReadonlyArray<Point | null>>
}

/** A mean with its 95 % interval; `units` is how many rewarded units it has. */
export interface Point extends Summary.Tally, Interval.Estimated {}

/**
 * The mean reward of each instruction in at most `most` points. Each point has all the rewards of its cohorts; null without
 * one. Wilson's interval for shares is also valid, and wider than necessary, for rewards between 0 and 1.
 */
export const series = ({ cohorts }: Rewards, most: number): Series => {
  const last = cohorts.at(-1)?.cohort ?? 0
  const width = Math.max(1, Math.ceil(last / most))
  const places = [...new Set(cohorts.map(({ cohort }) => Math.ceil(cohort / width)))]
  const at = new Map(places.map((place, index) => [place, index]))
  const sums = new Map<string, Array<Summary.Tally | null>>()
  for (const { cohort, tallies } of cohorts) {
    const index = at.get(Math.ceil(cohort / width)) ?? 0
    for (const [id, more] of Object.entries(tallies)) {
      const own = sums.get(id) ?? places.map(() => null)
      own[index] = Summary.added(own[index] ?? Summary.nothing, more)
      sums.set(id, own)
    }
  }
  return {
    cohorts: places.map((place) => Math.min(last, place * width)),
    width,
    of: new Map([...sums].map(([id, own]) => [id, own.map(pointOf)]))
  }
}

const marked = (before: Rewards, kind: "prune" | "evolve"): Rewards => ({
  ...before,
  marks: [...before.marks, { kind, step: before.cohorts.at(-1)?.cohort ?? 0 }]
})

const pointOf = (tally: Summary.Tally | null): Point | null =>
  tally === null ? null : { ...tally, mean: tally.sum / tally.units, ci95: Interval.wilson(tally.sum, tally.units) }

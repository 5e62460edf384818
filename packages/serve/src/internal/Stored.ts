/**
 * How a population lies in its journal. Leases and rewards are records, which may be dropped once their cohort is closed and
 * old; everything else that happened is the log, and the log alone is enough for every later decision.
 */
import { type EventOf, Given, PopulationEvent, State } from "@inspo/cohorts"
import { Invariant } from "@inspo/domain"
import type { NewEvent, RecordGroup } from "@inspo/journal"
import { Array as Arr, HashMap, Schema } from "effect"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** A lease as it was given out. `place` orders those of a cohort; `isNamed` says whether the client named the cohort. */
export const StoredLease = Schema.Struct({
  given: Given,
  branch: Count,
  cohort: Schema.String,
  index: Count,
  isTrain: Schema.Boolean,
  isNamed: Schema.Boolean,
  place: Count
})
export interface StoredLease extends Schema.Schema.Type<typeof StoredLease> {}

/** The first reward of a sample, in [0, 1]; null where there is none to come. A late one is no evidence. */
export const StoredReward = Schema.Struct({
  lease: Schema.String,
  sample: Count,
  value: Schema.NullOr(Schema.Finite),
  isLate: Schema.Boolean
})
export interface StoredReward extends Schema.Schema.Type<typeof StoredReward> {}

/** An event of the log, and when it happened, in milliseconds since 1970. */
export const StoredEvent = Schema.Struct({ at: Schema.Finite, event: PopulationEvent })
export interface StoredEvent extends Schema.Schema.Type<typeof StoredEvent> {}

/** The index of a closed cohort, 0 for one of validation. */
export const StoredCohort = Schema.Struct({ index: Count })

/** The kinds of the records. */
export const kinds = { lease: "lease", reward: "reward", cohort: "cohort" } as const

/** Where a lease is found: by its id, or by the key alone where the population named the cohort. */
export const leaseKey = ({ branch, given, isNamed }: Pick<StoredLease, "branch" | "given" | "isNamed">): string =>
  isNamed ? given.lease : unnamedKey(branch, given.key)

export const unnamedKey = (branch: number, key: string): string => `key/${branch}/${encodeURIComponent(key)}`

/** The same of a lease by its id. */
export const unnamedOf = (lease: string): string => {
  const [branch = "", , key = ""] = lease.split("/")
  return `key/${branch}/${key}`
}

export const rewardKey = (lease: string, sample: number): string => `${lease}#${sample}`

export const cohortKey = (branch: number, name: string): string => `${branch}/${encodeURIComponent(name)}`

/** What some events come to in a journal. `leases`, `rewards` and `cohorts` are what the records hold, by their keys. */
export interface Written {
  readonly log: ReadonlyArray<NewEvent>
  readonly leases: ReadonlyArray<readonly [key: string, lease: StoredLease]>
  readonly rewards: ReadonlyArray<readonly [key: string, step: number, reward: StoredReward]>
  readonly cohorts: ReadonlyArray<readonly [key: string, index: number]>
}

interface Open {
  readonly index: number
  readonly isTrain: boolean
  readonly isNamed: boolean
  readonly leases: number
}

/** What to write for the events that follow a state at a time. */
export const written = (before: State.State, events: ReadonlyArray<PopulationEvent>, now: number): Written => {
  const open = new Map(before.cohorts.map((cohort) => [cohort.name, ofCohort(cohort)]))
  let { branch } = before
  let step = before.learning.folded
  const log: Array<NewEvent> = []
  const leases: Array<Written["leases"][number]> = []
  const rewards: Array<Written["rewards"][number]> = []
  const cohorts: Array<Written["cohorts"][number]> = []
  for (const event of events) {
    switch (event._tag) {
      case "Leased":
        leases.push(...leasesOf(open, branch, event))
        continue
      case "Rewarded": {
        const { index } = Invariant.get(open, event.cohort, "cohort")
        for (const { key, sample, value } of event.rewards) {
          const lease = State.leaseId(branch, event.cohort, key)
          rewards.push([rewardKey(lease, sample), index, { lease, sample, value, isLate: false }])
        }
        continue
      }
      case "RewardedLate":
        for (const { lease, sample, value } of event.rewards)
          rewards.push([rewardKey(lease, sample), step, { lease, sample, value, isLate: true }])
        break
      case "CohortOpened":
        open.set(event.cohort, {
          index: event.index,
          isTrain: event.phase === "train",
          isNamed: event.isNamed,
          leases: 0
        })
        break
      case "Closed":
        step = event.index
        cohorts.push([cohortKey(branch, event.cohort), event.index])
        break
      case "ValidationClosed":
        cohorts.push([cohortKey(branch, event.cohort), 0])
        break
      case "Rewound":
        branch = event.branch
        step = event.learning.folded
        break
      default:
    }
    log.push({ type: event._tag, step, payload: { at: now, event } satisfies typeof StoredEvent.Encoded })
  }
  return { log, leases, rewards, cohorts }
}

/** The same as a journal takes it. */
export const toJournal = (
  all: ReadonlyArray<Written>
): { readonly events: ReadonlyArray<NewEvent>; readonly records: ReadonlyArray<RecordGroup> } => ({
  events: all.flatMap(({ log }) => log),
  records: [
    ...byStep(
      kinds.lease,
      all.flatMap(({ leases }) => leases.map(([key, value]) => [key, value.index, value] as const))
    ),
    ...byStep(
      kinds.reward,
      all.flatMap(({ rewards }) => rewards)
    ),
    ...byStep(
      kinds.cohort,
      all.flatMap(({ cohorts }) => cohorts.map(([key, index]) => [key, index, { index }] as const))
    )
  ]
})

const byStep = (
  kind: string,
  records: ReadonlyArray<readonly [key: string, step: number, value: unknown]>
): ReadonlyArray<RecordGroup> =>
  Object.values(Arr.groupBy(records, ([, step]) => String(step))).map((own) => ({
    kind,
    step: own[0][1],
    rows: own.map(([key, , value]) => ({ key, value }))
  }))

const ofCohort = ({ index, isNamed, leases, phase }: State.Cohort): Open => ({
  index,
  isNamed,
  isTrain: phase === "train",
  leases: HashMap.size(leases)
})

const leasesOf = (
  open: Map<string, Open>,
  branch: number,
  { cohort, leases }: EventOf<"Leased">
): ReadonlyArray<Written["leases"][number]> => {
  const known = Invariant.get(open, cohort, "cohort")
  const { index, isNamed, isTrain } = known
  open.set(cohort, { ...known, leases: known.leases + leases.length })
  return leases.map((given, at) => {
    const stored = { given, branch, cohort, index, isTrain, isNamed, place: known.leases + at }
    return [leaseKey(stored), stored] as const
  })
}

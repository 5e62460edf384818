/**
 * The format of a population in its journal. Leases and rewards are records, which may be deleted once their cohort is closed
 * and old; everything else is the log, which alone is enough for every later decision.
 */
import {
  Archive,
  type Command,
  type EventOf,
  Given,
  Learning,
  PopulationEvent,
  State,
  SampleReward
} from "@inspo/cohorts"
import { Instruction, Invariant } from "@inspo/domain"
import type { NewEvent, RecordGroup } from "@inspo/journal"
import { HashMap, Schema } from "effect"
import * as Details from "../Details.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** A lease. `place` orders those of a cohort; `isNamed`: by the client; `arms` are the keys of further leases on the question. */
export const StoredLease = Schema.Struct({
  given: Given,
  branch: Count,
  cohort: Schema.String,
  index: Count,
  isTrain: Schema.Boolean,
  isNamed: Schema.Boolean,
  place: Count,
  arms: Schema.Array(Schema.String)
})
export interface StoredLease extends Schema.Schema.Type<typeof StoredLease> {}

/** The first reward of a sample, in [0, 1]; null if there will be none. A late one is not evidence. */
export const StoredReward = Schema.Struct({
  lease: Schema.String,
  sample: Count,
  value: SampleReward,
  isLate: Schema.Boolean,
  metrics: Schema.optionalKey(Learning.Metrics),
  at: Schema.optionalKey(Schema.Finite)
})
export interface StoredReward extends Schema.Schema.Type<typeof StoredReward> {}

/** The version of the log's format. Raise it when the meaning of an event changes: a log of another version is refused. */
export const version = 3

/** An event of the log, and when it happened, in milliseconds since 1970. */
export const StoredEvent = Schema.Struct({
  version: Schema.Literal(version),
  at: Schema.Finite,
  event: PopulationEvent
})
export interface StoredEvent extends Schema.Schema.Type<typeof StoredEvent> {}

/** The index of a closed cohort, 0 for one of validation. */
export const StoredCohort = Schema.Struct({ index: Count })

/** The details of a lease. */
export const StoredLeaseDetails = Schema.Struct({ lease: Schema.String, ...Details.LeaseDetails.fields })
export interface StoredLeaseDetails extends Schema.Schema.Type<typeof StoredLeaseDetails> {}

/** The details of a sample, under the key of its reward. */
export const StoredRewardDetails = Schema.Struct({
  lease: Schema.String,
  sample: Count,
  ...Details.RewardDetails.fields
})
export interface StoredRewardDetails extends Schema.Schema.Type<typeof StoredRewardDetails> {}

/** The reward, in [0, 1], of a sample with texts, under the key of the reward. */
export const StoredScore = Schema.Struct({ lease: Schema.String, instruction: Schema.String, value: Schema.Finite })
export interface StoredScore extends Schema.Schema.Type<typeof StoredScore> {}

/** The instruction of a conversation. */
export const StoredSticky = Schema.Struct({ instruction: Instruction.InstructionId, probability: Schema.Finite })
export interface StoredSticky extends Schema.Schema.Type<typeof StoredSticky> {}

/** The kinds of the records. */
export const kinds = {
  lease: "lease",
  reward: "reward",
  cohort: "cohort",
  sticky: "sticky",
  leaseDetails: "of-lease",
  rewardDetails: "of-reward",
  scored: "scored"
} as const

/** The step of all records except those of cohorts: the minute of a time, so that they can be deleted by age. */
export const minute = (time: number): number => Math.floor(time / 60_000)

/** The key of a lease: its id, or the client's key alone if the population named the cohort. */
export const leaseKey = ({ branch, given, isNamed }: Pick<StoredLease, "branch" | "given" | "isNamed">): string =>
  isNamed ? given.lease : unnamedKey(branch, given.key)

export const unnamedKey = (branch: number, key: string): string => `key/${branch}/${State.encodeName(key)}`

/** The same for the id of a lease. */
export const unnamedOf = (lease: string): string => {
  const [branch = "", , key = ""] = lease.split("/")
  return `key/${branch}/${key}`
}

/** The keys of details begin with the id of the lease and `#`, which no id contains. */
export const leaseDetailsKey = (lease: string): string => `${lease}#lease`

export const rewardKey = (lease: string, sample: number): string => `${lease}#${sample}`

/** The key of a conversation. */
export const stickyKey = (branch: number, unit: string): string => `${branch}/${State.encodeName(unit)}`

/** The key of one of its instructions. */
export const ofSticky = (key: string, instruction: string): string => `${key}#${instruction}`

/** The key of its first instruction, which shows that it had one even if none of them is alive. */
export const firstSticky = (key: string): string => `${key}#`

export const cohortKey = (branch: number, name: string): string => `${branch}/${State.encodeName(name)}`

/** A record to write. */
export interface Row<A = unknown> {
  readonly kind: string
  readonly step: number
  readonly key: string
  readonly value: A
}

/** What a journal stores of some events. */
export interface Written {
  readonly log: ReadonlyArray<NewEvent>
  readonly leases: ReadonlyArray<Row<StoredLease>>
  readonly rewards: ReadonlyArray<Row<StoredReward>>
  readonly cohorts: ReadonlyArray<Row<typeof StoredCohort.Type>>
}

/** `since` is when it was opened: no record of it has an earlier step, even if the clock is set back. */
interface Open {
  readonly index: number
  readonly since: number
  readonly isTrain: boolean
  readonly isNamed: boolean
  readonly leases: number
}

/** The writes for the events that follow a state at a time. */
export const written = (before: State.State, events: ReadonlyArray<PopulationEvent>, now: number): Written => {
  const open = new Map<string, Open>()
  const openOf = (name: string): Open =>
    open.get(name) ?? ofCohort(Invariant.present(State.cohort(before, name), `cohort ${name}`))
  let { branch } = before
  let step = before.learning.population.step
  const log: Array<NewEvent> = []
  const leases: Array<Row<StoredLease>> = []
  const rewards: Array<Row<StoredReward>> = []
  const cohorts: Array<Written["cohorts"][number]> = []
  const reward = (at: number, value: StoredReward) =>
    rewards.push({ kind: kinds.reward, step: minute(at), key: rewardKey(value.lease, value.sample), value })
  const closed = (cohort: string, index: number) =>
    cohorts.push({ kind: kinds.cohort, step: index, key: cohortKey(branch, cohort), value: { index } })
  for (const event of events) {
    switch (event._tag) {
      case "Leased": {
        const known = openOf(event.cohort)
        leases.push(...leasesOf(known, branch, event, now))
        open.set(event.cohort, { ...known, leases: known.leases + event.leases.length })
        continue
      }
      case "Rewarded": {
        const { since } = openOf(event.cohort)
        for (const { key, ...own } of event.rewards) {
          const lease = State.leaseId(branch, event.cohort, key)
          const at = event.at === undefined ? {} : { at: event.at }
          reward(Math.max(now, since), { lease, ...own, isLate: false, ...at })
        }
        continue
      }
      case "RewardedLate":
        for (const { lease, sample, value } of event.rewards) reward(now, { lease, sample, value, isLate: true })
        break
      case "CohortOpened":
        open.set(event.cohort, {
          index: event.index,
          since: event.at,
          isTrain: event.phase === "train",
          isNamed: event.isNamed,
          leases: 0
        })
        break
      case "Closed":
        step = event.index
        closed(event.cohort, event.index)
        break
      case "ValidationClosed":
        closed(event.cohort, 0)
        break
      case "Rewound":
        branch = event.branch
        step = event.learning.population.step
        break
      default:
    }
    log.push({ type: event._tag, step, payload: { version, at: now, event } satisfies typeof StoredEvent.Encoded })
  }
  return { log, leases, rewards, cohorts }
}

/** The events and records for a journal, with further records. */
export const toJournal = (
  all: ReadonlyArray<Written>,
  others: ReadonlyArray<Row> = []
): { readonly events: ReadonlyArray<NewEvent>; readonly records: ReadonlyArray<RecordGroup> } => ({
  events: all.flatMap(({ log }) => log),
  records: grouped([
    ...all.flatMap(({ cohorts, leases, rewards }) => [...leases, ...stickies(leases), ...rewards, ...cohorts]),
    ...others
  ])
})

/** The instructions of conversations: the first, each once, since a record never changes. One that continues is there already. */
export const stickies = (leases: Written["leases"]): ReadonlyArray<Row<StoredSticky>> => {
  if (leases.every(({ value }) => !value.given.isSticky)) return []
  const found = new Map<string, Row<StoredSticky>>()
  for (const { step, value } of leases) {
    const { branch, given, isNamed, isTrain } = value
    const { instruction, isCarried, isSticky, probability, unit } = given
    if (!isSticky || isCarried === true || !isTrain || isNamed) continue
    const own = stickyKey(branch, unit)
    for (const key of [firstSticky(own), ofSticky(own, instruction)])
      if (!found.has(key)) found.set(key, { kind: kinds.sticky, step, key, value: { instruction, probability } })
  }
  return Array.from(found.values())
}

const grouped = (rows: ReadonlyArray<Row>): ReadonlyArray<RecordGroup> => {
  const groups: Array<RecordGroup & { readonly rows: Array<Row> }> = []
  for (const row of rows) {
    const known = groups.find(({ kind, step }) => kind === row.kind && step === row.step)
    if (known === undefined) groups.push({ kind: row.kind, step: row.step, rows: [row] })
    else known.rows.push(row)
  }
  return groups
}

const ofCohort = ({ index, isNamed, leases, openedAt, phase }: State.Cohort): Open => ({
  index,
  since: openedAt,
  isNamed,
  isTrain: phase === "train",
  leases: HashMap.size(leases)
})

const leasesOf = (
  known: Open,
  branch: number,
  { cohort, leases }: EventOf<"Leased">,
  now: number
): ReadonlyArray<Written["leases"][number]> => {
  const { index, isNamed, isTrain, since } = known
  const arms = Archive.armsOf(leases)
  return leases.map((given, at) => {
    const value = { given, branch, cohort, index, isTrain, isNamed, place: known.leases + at, arms: arms(given.key) }
    return { kind: kinds.lease, step: minute(Math.max(now, since)), key: leaseKey(value), value }
  })
}

/** A command that was handled, with what it writes and its details. */
interface Done {
  readonly command: Command
  readonly details: Details.Details
  readonly written: Written
  readonly archive: Archive.Archive
  readonly now: number
}

/** The details of new leases, and of rewards that are the first of their samples. */
export const auxiliaryRecords = (done: Done): ReadonlyArray<Row> =>
  done.command._tag === "Lease"
    ? ofLeases(done, done.command.requests)
    : done.command._tag === "Reward"
      ? ofRewards(done, done.command.rewards)
      : []

const ofLeases = (
  { details, now, written: { leases } }: Done,
  requests: ReadonlyArray<{ readonly key: string }>
): ReadonlyArray<Row> => {
  if (details.leases === undefined) return []
  const byKey = new Map(requests.map(({ key }, at) => [key, details.leases?.[at] ?? {}]))
  return leases.flatMap(({ value: { given } }): ReadonlyArray<Row> => {
    const own = byKey.get(State.baseKey(given.key)) ?? {}
    const value: StoredLeaseDetails = { lease: given.lease, ...own }
    return Object.keys(own).length === 0
      ? []
      : [{ kind: kinds.leaseDetails, step: minute(now), key: leaseDetailsKey(given.lease), value }]
  })
}

const ofRewards = (
  { archive, details, now, written: { rewards } }: Done,
  items: ReadonlyArray<{ readonly lease: string; readonly sample: number | null }>
): ReadonlyArray<Row> => {
  if (details.rewards === undefined) return []
  const step = minute(now)
  const first = new Map(rewards.map(({ key, value }) => [key, value]))
  return items.flatMap(({ lease, sample }, at): ReadonlyArray<Row> => {
    const own = details.rewards?.[at] ?? {}
    const key = rewardKey(lease, sample ?? 0)
    const reward = first.get(key)
    first.delete(key)
    if (reward === undefined || Object.keys(own).length === 0) return []
    const value: StoredRewardDetails = { lease, sample: sample ?? 0, ...own }
    const instruction = archive.lease(lease)?.instruction
    const isText = own.transcript !== undefined || own.feedback !== undefined
    return [
      { kind: kinds.rewardDetails, step, key, value },
      ...(instruction === undefined || !isText || typeof reward.value !== "number"
        ? []
        : [{ kind: kinds.scored, step, key, value: { lease, instruction, value: reward.value } satisfies StoredScore }])
    ]
  })
}

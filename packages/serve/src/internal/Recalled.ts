/** What commands may have to know of leases and cohorts that the state has forgotten. */
import { type Archive, type Command, State } from "@inspo/cohorts"
import { type Journal, type JournalError, Records } from "@inspo/journal"
import { Effect } from "effect"
import {
  cohortKey,
  firstSticky,
  kinds,
  ofSticky,
  rewardKey,
  stickies,
  stickyKey,
  StoredCohort,
  StoredLease,
  StoredReward,
  StoredSticky,
  unnamedKey,
  unnamedOf,
  type Written
} from "./Stored.ts"

/** An archive of what was recalled, which learns of what is written meanwhile. */
export interface Recalled extends Archive.Archive {
  readonly learn: (written: Written) => void
}

/** Recalls what commands name and what stands in the journal. */
export const make = (journal: Journal.Interface) => {
  const storedLeases = Records.make(journal, kinds.lease, StoredLease)
  const storedRewards = Records.make(journal, kinds.reward, StoredReward)
  const storedCohorts = Records.make(journal, kinds.cohort, StoredCohort)
  const storedStickies = Records.make(journal, kinds.sticky, StoredSticky)
  return Effect.fnUntraced(function* (
    state: State.State,
    commands: ReadonlyArray<Command>
  ): Effect.fn.Return<Recalled, JournalError> {
    const branches = State.ancestry(state).map(({ branch }) => branch)
    const names = commands.map((command) => named(state, branches, command))
    const leases = yield* storedLeases.get(unique(names.flatMap(({ leases }) => leases)))
    const rewards = yield* storedRewards.get(unique(names.flatMap(({ rewards }) => rewards)))
    const cohorts = yield* storedCohorts.get(unique(names.flatMap(({ cohorts }) => cohorts)))
    const stickies = yield* storedStickies.get(unique(names.flatMap(({ stickies }) => stickies)))
    const arms = Array.from(leases.values(), ({ arms, branch, cohort }) =>
      arms.map((key) => State.leaseId(branch, cohort, key))
    )
    for (const [key, lease] of yield* storedLeases.get(unique(arms.flat()))) leases.set(key, lease)
    const indices = new Map(Array.from(cohorts, ([key, { index }]) => [key, index]))
    return recalled(state, leases, rewards.values(), indices, stickies)
  })
}

const recalled = (
  state: State.State,
  leases: Map<string, StoredLease>,
  rewards: Iterable<StoredReward>,
  cohorts: Map<string, number>,
  known: ReadonlyMap<string, StoredSticky>
): Recalled => {
  const held = new Map<string, ReadonlyArray<StoredSticky>>()
  const hold = (key: string, sticky: StoredSticky) => {
    const unit = key.slice(0, key.lastIndexOf("#"))
    const others = held.get(unit) ?? []
    if (others.every(({ instruction }) => instruction !== sticky.instruction)) held.set(unit, [...others, sticky])
  }
  for (const [key, sticky] of known) hold(key, sticky)
  const samples = new Map<string, Array<number>>()
  const remember = ({ lease, sample }: StoredReward) => {
    samples.set(lease, [...(samples.get(lease) ?? []), sample])
  }
  for (const reward of rewards) remember(reward)
  const rewardedOf = (lease: string) => [...(heldLease(state, lease)?.rewarded ?? []), ...(samples.get(lease) ?? [])]
  const archived = (key: string): Archive.ArchivedLease | undefined => {
    const stored = leases.get(key)
    if (stored === undefined) return undefined
    const { given, ...place } = stored
    return { ...given, ...place, rewarded: rewardedOf(given.lease) }
  }
  return {
    lease: (id) => {
      const own = archived(id)
      if (own !== undefined) return own
      const unnamed = archived(unnamedOf(id))
      if (unnamed?.lease === id) return unnamed
      const held = heldLease(state, id)
      return held === undefined ? undefined : { ...held, rewarded: rewardedOf(id) }
    },
    key: (branch, key) => archived(unnamedKey(branch, key)),
    cohort: (branch, name) => cohorts.get(cohortKey(branch, name)),
    sticky: (branch, unit) => held.get(stickyKey(branch, unit)) ?? [],
    learn: (written) => {
      for (const [key, , lease] of written.leases) leases.set(key, lease)
      for (const [, , reward] of written.rewards) remember(reward)
      for (const [key, index] of written.cohorts) cohorts.set(key, index)
      for (const [key, , value] of stickies(written.leases)) hold(key, value)
    }
  }
}

/**
 * A lease of a cohort that takes evidence, as the state knows it with all its rewards: a reward for it needs nothing of the
 * journal, not even where a command before it closes the cohort.
 */
const heldLease = (state: State.State, id: string): Archive.ArchivedLease | undefined => {
  const open = State.openLease(state, id)
  if (open === undefined || open.cohort.status === "complete") return undefined
  const { cohort, lease } = open
  return {
    ...lease,
    branch: state.branch,
    cohort: cohort.name,
    index: cohort.index,
    isTrain: cohort.phase === "train",
    arms: [],
    rewarded: lease.samples.flatMap((sample, at) => (sample === null ? [] : [at]))
  }
}

interface Names {
  readonly leases: ReadonlyArray<string>
  readonly rewards: ReadonlyArray<string>
  readonly cohorts: ReadonlyArray<string>
  readonly stickies: ReadonlyArray<string>
}

/** The records that a command may ask for. */
const named = (state: State.State, branches: ReadonlyArray<number>, command: Command): Names => {
  switch (command._tag) {
    case "Lease": {
      const { cohort, requests } = command
      return cohort === null
        ? {
            ...none,
            leases: branches.flatMap((branch) => requests.map(({ key }) => unnamedKey(branch, key))),
            stickies: requests.flatMap(({ sticky }) =>
              sticky === null ? [] : stickiesOf(state, stickyKey(state.branch, State.unitOf({ key: "", sticky })))
            )
          }
        : {
            ...none,
            leases: branches.flatMap((branch) => requests.map(({ key }) => State.leaseId(branch, cohort, key))),
            cohorts: branches.map((branch) => cohortKey(branch, cohort))
          }
    }
    case "Reward": {
      const rewards = command.rewards.filter(({ lease }) => heldLease(state, lease) === undefined)
      return {
        ...none,
        leases: rewards.flatMap(({ lease }) => [lease, unnamedOf(lease)]),
        rewards: rewards.map(({ lease, sample }) => rewardKey(lease, sample ?? 0))
      }
    }
    case "Close":
    case "Seal":
      return { ...none, cohorts: branches.map((branch) => cohortKey(branch, command.cohort)) }
    case "Rewind":
      return { ...none, cohorts: branches.map((branch) => cohortKey(branch, command.to)) }
    default:
      return none
  }
}

const stickiesOf = ({ learning }: State.State, key: string): ReadonlyArray<string> => [
  firstSticky(key),
  ...learning.population.members.map(({ instruction }) => ofSticky(key, instruction.id))
]

const none: Names = { leases: [], rewards: [], cohorts: [], stickies: [] }

const unique = (keys: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from(new Set(keys)).filter((key) => key.isWellFormed() && !key.includes("\0"))

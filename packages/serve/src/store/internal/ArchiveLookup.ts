/** Looks up the leases and cohorts of commands that are no longer in the state. */
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

/** An archive of what was looked up, and of what is written meanwhile. */
export interface ArchiveLookup extends Archive.Archive {
  readonly learn: (written: Written) => void
}

/** Reads the records that commands name from the journal. */
export const make = (journal: Journal.Interface) => {
  const storedLeases = Records.make(journal, kinds.lease, StoredLease)
  const storedRewards = Records.make(journal, kinds.reward, StoredReward)
  const storedCohorts = Records.make(journal, kinds.cohort, StoredCohort)
  const storedStickies = Records.make(journal, kinds.sticky, StoredSticky)
  return Effect.fnUntraced(function* (
    state: State.State,
    commands: ReadonlyArray<Command>
  ): Effect.fn.Return<ArchiveLookup, JournalError> {
    const branches = State.ancestry(state).map(({ branch }) => branch)
    const named: Named = { lease: [], reward: [], cohort: [], sticky: [] }
    for (const command of commands) addNamed(named, state, branches, command)
    const leases = yield* storedLeases.get(unique(named.lease))
    const rewards = yield* storedRewards.get(unique(named.reward))
    const cohorts = yield* storedCohorts.get(unique(named.cohort))
    const stickies = yield* storedStickies.get(unique(named.sticky))
    const arms = Array.from(leases.values(), ({ arms, branch, cohort, isNamed }) =>
      arms.map((key) => (isNamed ? State.leaseId(branch, cohort, key) : unnamedKey(branch, key)))
    )
    for (const [key, lease] of yield* storedLeases.get(unique(arms.flat()))) leases.set(key, lease)
    return lookup(state, leases, rewards.values(), cohorts, stickies)
  })
}

const lookup = (
  state: State.State,
  leases: Map<string, StoredLease>,
  rewards: Iterable<StoredReward>,
  cohorts: Map<string, typeof StoredCohort.Type>,
  known: ReadonlyMap<string, StoredSticky>
): ArchiveLookup => {
  const held = new Map<string, ReadonlyArray<StoredSticky>>()
  const hold = (key: string, sticky: StoredSticky) => {
    const unit = key.slice(0, key.lastIndexOf("#"))
    const others = held.get(unit) ?? []
    if (others.every(({ instruction }) => instruction !== sticky.instruction)) held.set(unit, [...others, sticky])
  }
  for (const [key, sticky] of known) hold(key, sticky)
  const samples = new Map<string, Array<number>>()
  const remember = ({ lease, sample }: StoredReward) => {
    const own = samples.get(lease) ?? []
    own.push(sample)
    samples.set(lease, own)
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
    cohort: (branch, name) => cohorts.get(cohortKey(branch, name))?.index,
    sticky: (branch, unit) => held.get(stickyKey(branch, unit)) ?? [],
    learn: (written) => {
      for (const { key, value } of written.leases) leases.set(key, value)
      for (const { value } of written.rewards) remember(value)
      for (const { key, value } of written.cohorts) cohorts.set(key, value)
      for (const { key, value } of stickies(written.leases)) hold(key, value)
    }
  }
}

/** A lease of a cohort that accepts evidence. */
const acceptingLease = (state: State.State, id: string): ReturnType<typeof State.openLease> => {
  const open = State.openLease(state, id)
  return open?.cohort.status === "complete" ? undefined : open
}

/**
 * The same, as the state has it with all its rewards: a reward for it needs nothing from the
 * journal, even if a command before it closes the cohort.
 */
const heldLease = (state: State.State, id: string): Archive.ArchivedLease | undefined => {
  const open = acceptingLease(state, id)
  if (open === undefined) return undefined
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

/** Adds the records that a command may look up. */
const addNamed = (named: Named, state: State.State, branches: ReadonlyArray<number>, command: Command): void => {
  switch (command._tag) {
    case "Lease": {
      const { cohort, requests } = command
      for (const branch of branches)
        for (const { key } of requests) {
          if (cohort !== null) named.lease.push(State.leaseId(branch, cohort, key))
          // After the switch to the seed the population names all cohorts.
          if (cohort === null || state.settings.profile === "online") named.lease.push(unnamedKey(branch, key))
        }
      if (cohort === null) for (const { sticky } of requests) named.sticky.push(...stickiesOf(state, sticky))
      else named.cohort.push(...branches.map((branch) => cohortKey(branch, cohort)))
      return
    }
    case "Reward":
      for (const { lease, sample } of command.rewards) {
        if (acceptingLease(state, lease) !== undefined) continue
        named.lease.push(lease, unnamedOf(lease))
        named.reward.push(rewardKey(lease, sample ?? 0))
      }
      return
    case "Close":
    case "Seal":
      named.cohort.push(...branches.map((branch) => cohortKey(branch, command.cohort)))
      return
    case "Rewind":
      named.cohort.push(...branches.map((branch) => cohortKey(branch, command.to)))
      return
    default:
  }
}

/** Keys by kind. */
type Named = Readonly<Record<"lease" | "reward" | "cohort" | "sticky", Array<string>>>

const stickiesOf = ({ branch, learning }: State.State, sticky: string | null): ReadonlyArray<string> => {
  if (sticky === null) return []
  const unit = stickyKey(branch, State.unitOf({ key: "", sticky }))
  return [firstSticky(unit), ...learning.population.members.map(({ instruction }) => ofSticky(unit, instruction.id))]
}

const unique = (keys: ReadonlyArray<string>): ReadonlyArray<string> =>
  keys.length === 0 ? keys : Array.from(new Set(keys)).filter((key) => key.isWellFormed() && !key.includes("\0"))

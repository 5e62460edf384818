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
    const named = commands.flatMap((command) => namedBy(state, branches, command))
    const of = (kind: Named[0]) => unique(named.flatMap(([own, key]) => (own === kind ? [key] : [])))
    const leases = yield* storedLeases.get(of(kinds.lease))
    const rewards = yield* storedRewards.get(of(kinds.reward))
    const cohorts = yield* storedCohorts.get(of(kinds.cohort))
    const stickies = yield* storedStickies.get(of(kinds.sticky))
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

/**
 * A lease of a cohort that accepts evidence, as the state has it with all its rewards: a reward for it needs nothing from the
 * journal, even if a command before it closes the cohort.
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

/** The records that a command may look up, as pairs of a kind and a key. */
const namedBy = (state: State.State, branches: ReadonlyArray<number>, command: Command): ReadonlyArray<Named> => {
  const cohorts = (name: string) => branches.map((branch): Named => [kinds.cohort, cohortKey(branch, name)])
  switch (command._tag) {
    case "Lease": {
      const { cohort, requests } = command
      const keysOf = (branch: number, key: string) => [
        ...(cohort === null ? [] : [State.leaseId(branch, cohort, key)]),
        // After the switch to the seed the population names all cohorts.
        ...(cohort === null || state.settings.profile === "online" ? [unnamedKey(branch, key)] : [])
      ]
      return [
        ...branches.flatMap((branch) =>
          requests.flatMap(({ key }) => keysOf(branch, key).map((own): Named => [kinds.lease, own]))
        ),
        ...(cohort === null ? requests.flatMap((request) => stickiesOf(state, request)) : cohorts(cohort))
      ]
    }
    case "Reward":
      return command.rewards
        .filter(({ lease }) => heldLease(state, lease) === undefined)
        .flatMap(({ lease, sample }): ReadonlyArray<Named> => [
          [kinds.lease, lease],
          [kinds.lease, unnamedOf(lease)],
          [kinds.reward, rewardKey(lease, sample ?? 0)]
        ])
    case "Close":
    case "Seal":
      return cohorts(command.cohort)
    case "Rewind":
      return cohorts(command.to)
    default:
      return []
  }
}

type Named = readonly [kind: (typeof kinds)[keyof typeof kinds], key: string]

const stickiesOf = (
  { branch, learning }: State.State,
  { sticky }: { readonly sticky: string | null }
): ReadonlyArray<Named> => {
  if (sticky === null) return []
  const unit = stickyKey(branch, State.unitOf({ key: "", sticky }))
  const members = learning.population.members.map(({ instruction }) => ofSticky(unit, instruction.id))
  return [firstSticky(unit), ...members].map((key) => [kinds.sticky, key])
}

const unique = (keys: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from(new Set(keys)).filter((key) => key.isWellFormed() && !key.includes("\0"))

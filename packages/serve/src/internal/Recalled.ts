/** What commands may have to know of leases and cohorts that the state has forgotten. */
import { type Archive, type Command, State } from "@inspo/cohorts"
import { type Journal, type JournalError, Records } from "@inspo/journal"
import { Effect } from "effect"
import {
  cohortKey,
  kinds,
  rewardKey,
  StoredCohort,
  StoredLease,
  StoredReward,
  unnamedKey,
  unnamedOf,
  type Written
} from "./Stored.ts"

/** An archive of what was recalled, which learns of what is written meanwhile. */
export interface Recalled extends Archive.Archive {
  readonly learn: (written: Written) => void
}

/** Recalls what these commands name and what stands in the journal. */
export const recall = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  state: State.State,
  commands: ReadonlyArray<Command>
): Effect.fn.Return<Recalled, JournalError> {
  const names = commands.map((command) => named(state, command))
  const fetch = { concurrency: "unbounded" } as const
  const stored = Records.make(journal, kinds.lease, StoredLease)
  const [leases, rewards, cohorts] = yield* Effect.all(
    [
      stored.get(unique(names.flatMap(({ leases }) => leases))),
      Records.make(journal, kinds.reward, StoredReward).get(unique(names.flatMap(({ rewards }) => rewards))),
      Records.make(journal, kinds.cohort, StoredCohort).get(unique(names.flatMap(({ cohorts }) => cohorts)))
    ],
    fetch
  )
  const arms = Array.from(leases.values(), ({ arms, branch, cohort }) =>
    arms.map((key) => State.leaseId(branch, cohort, key))
  )
  for (const [key, lease] of yield* stored.get(unique(arms.flat()))) leases.set(key, lease)
  return recalled(leases, rewards.values(), new Map(Array.from(cohorts, ([key, { index }]) => [key, index])))
})

const recalled = (
  leases: Map<string, StoredLease>,
  rewards: Iterable<StoredReward>,
  cohorts: Map<string, number>
): Recalled => {
  const samples = new Map<string, Array<number>>()
  const remember = ({ lease, sample }: StoredReward) => {
    samples.set(lease, [...(samples.get(lease) ?? []), sample])
  }
  for (const reward of rewards) remember(reward)
  const archived = (key: string): Archive.ArchivedLease | undefined => {
    const stored = leases.get(key)
    if (stored === undefined) return undefined
    const { given, ...place } = stored
    return { ...given, ...place, rewarded: samples.get(given.lease) ?? [] }
  }
  return {
    lease: (id) => {
      const own = archived(id)
      if (own !== undefined) return own
      const unnamed = archived(unnamedOf(id))
      return unnamed?.lease === id ? unnamed : undefined
    },
    key: (branch, key) => archived(unnamedKey(branch, key)),
    cohort: (branch, name) => cohorts.get(cohortKey(branch, name)),
    learn: (written) => {
      for (const [key, , lease] of written.leases) leases.set(key, lease)
      for (const [, , reward] of written.rewards) remember(reward)
      for (const [key, index] of written.cohorts) cohorts.set(key, index)
    }
  }
}

interface Names {
  readonly leases: ReadonlyArray<string>
  readonly rewards: ReadonlyArray<string>
  readonly cohorts: ReadonlyArray<string>
}

/** The records that a command may ask for. */
const named = (state: State.State, command: Command): Names => {
  const branches = State.ancestry(state).map(({ branch }) => branch)
  switch (command._tag) {
    case "Lease": {
      const { cohort, requests } = command
      return cohort === null
        ? { ...none, leases: branches.flatMap((branch) => requests.map(({ key }) => unnamedKey(branch, key))) }
        : {
            ...none,
            leases: branches.flatMap((branch) => requests.map(({ key }) => State.leaseId(branch, cohort, key))),
            cohorts: branches.map((branch) => cohortKey(branch, cohort))
          }
    }
    case "Reward":
      return {
        ...none,
        leases: command.rewards.flatMap(({ lease }) => [lease, unnamedOf(lease)]),
        rewards: command.rewards.map(({ lease, sample }) => rewardKey(lease, sample ?? 0))
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

const none: Names = { leases: [], rewards: [], cohorts: [] }

const unique = (keys: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from(new Set(keys)).filter((key) => key.isWellFormed() && !key.includes("\0"))

/** The records of what was told beside a command. */
import { type Archive, type Command, State } from "@inspo/cohorts"
import type { Told } from "../Details.ts"
import {
  kinds,
  minute,
  ofLeaseKey,
  rewardKey,
  type Row,
  type StoredOfLease,
  type StoredOfReward,
  type StoredScore,
  type Written
} from "./Stored.ts"

/** A command that was done, with what it wrote and what was told beside it. */
export interface Done {
  readonly command: Command
  readonly told: Told
  readonly written: Written
  readonly archive: Archive.Archive
  readonly now: number
}

/** What to keep: of leases that are new, and of rewards that are the first of their samples. */
export const besides = (done: Done): ReadonlyArray<Row> =>
  done.command._tag === "Lease"
    ? ofLeases(done, done.command.requests)
    : done.command._tag === "Reward"
      ? ofRewards(done, done.command.rewards)
      : []

const ofLeases = (
  { now, told: { leases: told = [] }, written: { leases } }: Done,
  requests: ReadonlyArray<{ readonly key: string }>
): ReadonlyArray<Row> => {
  if (told.length === 0) return []
  const byKey = new Map(requests.map(({ key }, at) => [key, told[at] ?? {}]))
  return leases.flatMap(([, , { given }]): ReadonlyArray<Row> => {
    const own = byKey.get(State.baseKey(given.key)) ?? {}
    const value: StoredOfLease = { lease: given.lease, ...own }
    return Object.keys(own).length === 0
      ? []
      : [{ kind: kinds.ofLease, step: minute(now), key: ofLeaseKey(given.lease), value }]
  })
}

const ofRewards = (
  { archive, now, told: { rewards: told = [] }, written: { rewards } }: Done,
  items: ReadonlyArray<{ readonly lease: string; readonly sample: number | null }>
): ReadonlyArray<Row> => {
  if (told.length === 0) return []
  const step = minute(now)
  const first = new Map(rewards.map(([key, , reward]) => [key, reward]))
  return items.flatMap(({ lease, sample }, at): ReadonlyArray<Row> => {
    const own = told[at] ?? {}
    const key = rewardKey(lease, sample ?? 0)
    const reward = first.get(key)
    first.delete(key)
    if (reward === undefined || Object.keys(own).length === 0) return []
    const value: StoredOfReward = { lease, sample: sample ?? 0, ...own }
    const instruction = archive.lease(lease)?.instruction
    const isText = own.transcript !== undefined || own.feedback !== undefined
    return [
      { kind: kinds.ofReward, step, key, value },
      ...(instruction === undefined || !isText || typeof reward.value !== "number"
        ? []
        : [{ kind: kinds.scored, step, key, value: { lease, instruction, value: reward.value } satisfies StoredScore }])
    ]
  })
}

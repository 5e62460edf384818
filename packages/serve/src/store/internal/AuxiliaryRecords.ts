/** The records of what clients report in addition to leases and rewards. */
import { type Archive, type Command, State } from "@inspo/cohorts"
import type { Details } from "../Details.ts"
import {
  kinds,
  leaseDetailsKey,
  minute,
  rewardKey,
  type Row,
  type StoredLeaseDetails,
  type StoredRewardDetails,
  type StoredScore,
  type Written
} from "./Stored.ts"

/** A command that was handled, with what it writes and its details. */
export interface Done {
  readonly command: Command
  readonly details: Details
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

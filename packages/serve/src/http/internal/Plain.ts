/** Requests of the few fields that most have, which are known to be valid sooner than by their schemas. */
import { Predicate } from "effect"
import type { LeaseRequests, Rewards } from "../../wire/Lease.ts"
import * as Limits from "../../wire/Limits.ts"

type Is = (value: unknown) => boolean

/** Whether parsed JSON is a valid request of leases by their keys; false does not mean that it is invalid. */
export const isLeaseRequests = (body: unknown): body is LeaseRequests => areLeases(body)

/** The same of rewards that are numbers. */
export const isRewards = (body: unknown): body is Rewards => areRewards(body)

const record =
  (fields: Readonly<Record<string, Is>>, required: ReadonlyArray<string>): Is =>
  (value) => {
    if (!Predicate.isObject(value)) return false
    for (const [name, own] of Object.entries(value))
      if (!Object.hasOwn(fields, name) || fields[name]?.(own) !== true) return false
    return required.every((name) => Object.hasOwn(value, name))
  }

const list =
  (is: Is, least: number, most: number): Is =>
  (value) =>
    Array.isArray(value) && value.length >= least && value.length <= most && value.every(is)

const text =
  (most: number): Is =>
  (value) =>
    typeof value === "string" && value !== "" && value.length <= most && value.isWellFormed()

const name = text(Limits.nameLength)
const leaseRequest = record({ key: name, sticky: name, stratum: name }, ["key"])
const areLeases = record({ requests: list(leaseRequest, 1, Limits.leasesPerRequest) }, ["requests"])
const reward = record({ lease: text(Limits.leaseLength), value: Number.isFinite }, ["lease", "value"])
const areRewards = record({ rewards: list(reward, 0, Limits.rewardsPerRequest) }, ["rewards"])

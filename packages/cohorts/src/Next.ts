/** The events that follow from the state: cohorts end, are folded in order, and decisions are made. */
import { Array as Arr, HashMap, Order } from "effect"
import type { PopulationEvent } from "./Event.ts"
import { sealsAt, settlesAt } from "./Horizon.ts"
import { decide } from "./internal/Decisions.ts"
import * as Pausing from "./internal/Pausing.ts"
import { isPaused } from "./Learning.ts"
import type { Group } from "@inspo/evolution"
import type { Cohort, Lease, State } from "./State.ts"
import type { Strategies } from "./Strategies.ts"

/** The next event that is due at the time `now`, null if there is none. Pure: equal arguments return equal events. */
export const next = (strategies: Strategies, state: State, now: number): PopulationEvent | null =>
  pausing(state) ?? decide(strategies, state) ?? ending(state, now)

const pausing = (state: State): PopulationEvent | null => {
  const due = Pausing.due(state)
  return due === null ? null : { _tag: "Paused", ...due }
}

/**
 * The units of a cohort with what was reported of them, in an order that does not depend on that of the requests. Samples whose
 * instruction was never used, or whose environment failed, are no evidence: they are left out, and so are units of such samples alone,
 * unless one failed, which is counted. A conversation is evidence in the cohort it
 * began in: its later turns would count it twice, and whether a user returns may depend on the instruction.
 */
export const units = ({ isFullBatch, leases }: Cohort): ReadonlyArray<Group> => {
  const all = HashMap.toValues(leases)
    .filter(({ isCarried }) => isCarried !== true)
    .sort(isFullBatch ? byPlace : byKey)
  return Object.values(Arr.groupBy(all, ({ unit }) => unit)).flatMap((own): ReadonlyArray<Group> => {
    const [{ instruction, question, stratum }] = own
    const samples = own.flatMap((lease) => lease.samples)
    const rewards = samples.filter((sample) => typeof sample === "number")
    const abandoned = samples.filter((sample) => sample === "abandoned").length
    const failed = samples.filter((sample) => sample === "failed").length
    const missing = own.reduce((sum, { n }) => sum + n, 0) - abandoned - failed - rewards.length
    return missing + failed + rewards.length === 0
      ? []
      : [{ instruction, rewards, missing, stratum, question, ...(failed === 0 ? {} : { failed }) }]
  })
}

const byPlace: Order.Order<Lease> = Order.mapInput(Order.Number, ({ place }) => place)
const byKey: Order.Order<Lease> = Order.combine(
  Order.mapInput(Order.String, ({ unit }) => unit),
  Order.mapInput(Order.String, ({ key }) => key)
)

const ending = (state: State, now: number): PopulationEvent | null => {
  for (const cohort of state.cohorts) {
    const event = endingOf(state, cohort, now)
    if (event !== null) return event
  }
  return null
}

const endingOf = (state: State, cohort: Cohort, now: number): PopulationEvent | null => {
  const { learning } = state
  const { name, status } = cohort
  if (status === "complete") {
    if (cohort.phase === "validation") return validated(cohort)
    const { index, numbers } = cohort
    const known = Object.keys(numbers).length === 0 ? {} : { numbers }
    return index === learning.population.step + 1
      ? { _tag: "Closed", cohort: name, index, units: units(cohort), ...known }
      : null
  }
  if (cohort.closing !== null && cohort.reported >= cohort.closing)
    return { _tag: "Settled", cohort: name, reason: "client", at: now }
  if (status === "open") {
    const reason = sealing(state, cohort, now)
    return reason === null ? null : { _tag: "Sealed", cohort: name, reason, at: now }
  }
  const isComplete = cohort.reported === HashMap.size(cohort.leases)
  const end = settlesAt(state, cohort.sealedAt)
  return isComplete || (end !== null && now >= end)
    ? { _tag: "Settled", cohort: name, reason: isComplete ? "complete" : "horizon", ...waitOf(cohort), at: now }
    : null
}

const waitOf = ({ phase, rewardedAt, sealedAt }: Cohort): { readonly waited?: number } =>
  phase !== "train" || rewardedAt === null || sealedAt === null ? {} : { waited: Math.max(0, rewardedAt - sealedAt) }

const sealing = (state: State, cohort: Cohort, now: number): "fullBatch" | "members" | "units" | "time" | null => {
  const { profile, sealAfterLeases } = state.settings
  if (
    profile === "online" &&
    cohort.phase === "train" &&
    cohort.shares.some(({ id }) => isPaused(state.learning.stats, id))
  )
    return "members"
  if (cohort.isFullBatch && !HashMap.isEmpty(cohort.leases)) return "fullBatch"
  if (sealAfterLeases !== null && cohort.units >= sealAfterLeases) return "units"
  const end = sealsAt(state, cohort)
  return end !== null && now >= end ? "time" : null
}

const validated = (cohort: Cohort): PopulationEvent => {
  const all = units(cohort)
  const rewards = all.flatMap((unit) => unit.rewards)
  return {
    _tag: "ValidationClosed",
    cohort: cohort.name,
    instructions: Arr.dedupe(all.map(({ instruction }) => instruction)),
    mean: rewards.length === 0 ? null : rewards.reduce((sum, one) => sum + one, 0) / rewards.length,
    units: all.length
  }
}

/** A log in short: its decisions, and how much each instruction was rewarded in each cohort, without leases and single rewards. */
import { Schema, Struct } from "effect"
import * as Evolution from "@inspo/evolution"
import type { Group } from "@inspo/evolution"
import * as Event from "./Event.ts"

/** The units with a reward of one instruction, and the sum of their mean rewards, in [0, 1] each. */
export const Tally = Schema.Struct({ units: Schema.Int, sum: Schema.Finite })
export interface Tally extends Schema.Schema.Type<typeof Tally> {}

/** A closed cohort, with the tallies of its instructions by id. */
export const Closed = Schema.TaggedStruct("Closed", {
  ...Struct.pick(Event.Closed.fields, ["cohort", "index"]),
  tallies: Schema.Record(Schema.String, Tally)
})

/** An event that a summary has. */
export const SummaryEvent = Schema.Union([
  Event.Created,
  Event.Configured,
  Event.Frozen,
  Event.MemberAdded,
  Event.MemberPinned,
  Event.MemberRetired,
  Event.CandidateReviewed,
  Event.Paused,
  Event.CohortOpened,
  Closed,
  Event.ValidationClosed,
  ...Evolution.EvolutionEvent.members,
  Event.Concluded,
  Event.Rewound
])
export type SummaryEvent = typeof SummaryEvent.Type

/** An event as a summary has it; null for those of leases and rewards. */
export const summarize = (event: Event.PopulationEvent): SummaryEvent | null => {
  switch (event._tag) {
    case "Leased":
    case "Rewarded":
    case "RewardedLate":
    case "CloseRequested":
    case "Sealed":
    case "Settled":
      return null
    case "Closed":
      return { _tag: "Closed", cohort: event.cohort, index: event.index, tallies: talliesOf(event.units) }
    default:
      return event
  }
}

/** The tally of both. */
export const added = (one: Tally, other: Tally): Tally => ({
  units: one.units + other.units,
  sum: one.sum + other.sum
})

/** Without units. */
export const nothing: Tally = { units: 0, sum: 0 }

/** A unit counts once, however many samples it has. */
const talliesOf = (units: ReadonlyArray<Group>): (typeof Closed.Type)["tallies"] => {
  const tallies = new Map<string, Tally>()
  for (const { instruction, rewards } of units) {
    if (rewards.length === 0) continue
    const sum = rewards.reduce((total, reward) => total + reward, 0) / rewards.length
    tallies.set(instruction, added(tallies.get(instruction) ?? nothing, { units: 1, sum }))
  }
  return Object.fromEntries(tallies)
}

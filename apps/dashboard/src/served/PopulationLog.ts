/** The log of a population in words, and the history of each member: its origin, and why it was removed. */
import type { EventOf, PopulationEvent } from "@inspo/cohorts"
import * as History from "@inspo/cohorts/History"
import { percent, plural, quantity } from "../Format.ts"
import { inWords } from "../Reason.ts"

/** A present or former member, with its removal in words. */
export interface MemberHistory extends Pick<History.Known, "id" | "content" | "parent" | "rationale" | "bornAfter"> {
  readonly entered: History.Known["origin"]
  readonly left: (Pick<History.Departure, "after" | "how"> & { readonly why: string }) | null
}

/** An event in words. */
export interface Line {
  readonly at: string
  readonly tone: "plain" | "prune" | "evolve"
  readonly text: string
}

/** The log up to some event. */
export interface PopulationLog {
  readonly history: History.History
  readonly lines: ReadonlyArray<Line>
}

export const empty: PopulationLog = { history: History.none, lines: [] }

/** The log after one more event, which happened `at` a time, as ISO 8601. */
export const append = ({ history, lines }: PopulationLog, event: PopulationEvent, at: string): PopulationLog => {
  const text = lineOf(history, event)
  return {
    history: History.after(history, event),
    lines: text === null ? lines : [...lines, { at, tone: toneOf(event), text }]
  }
}

/** The present and former members, by id. */
export const membersOf = ({ history }: PopulationLog): ReadonlyMap<string, MemberHistory> =>
  new Map([...history.known].flatMap(([id, known]) => (known.stage === "alive" ? [[id, memberOf(known)]] : [])))

const memberOf = ({ left, origin, ...known }: History.Known): MemberHistory => ({
  ...known,
  entered: origin,
  left: left === null ? null : { after: left.after, how: left.how, why: whyOf(left) }
})

const whyOf = (left: History.Departure): string => {
  if (left.how === "pruned") return inFigures(left)
  return left.how === "retired" ? "retired by hand" : `removed when the population returned to ${left.to}`
}

/**
 * Why an instruction was removed, with the figures of the decision: its certainty, rounded down, and its value next to that
 * of the best remaining member.
 */
const inFigures = ({ best, leaving: { certainty, reason, value } }: History.Evidence): string =>
  [
    certainty === undefined
      ? inWords(reason)
      : `${inWords(reason)}, with certainty ${percent(Math.floor(1000 * certainty) / 1000)}`,
    `value ${quantity(value)}${best === null ? "" : `, against ${quantity(best.value)} of ${best.id}`}`
  ].join("; ")

const toneOf = ({ _tag }: PopulationEvent): Line["tone"] =>
  _tag === "Pruned" || _tag === "MemberRetired" ? "prune" : evolving.has(_tag) ? "evolve" : "plain"

const evolving: ReadonlySet<PopulationEvent["_tag"]> = new Set([
  "ParentsChosen",
  "CandidatesProposed",
  "VerificationBegun",
  "PopulationRefilled",
  "EvolutionSkipped"
])

const list = (names: ReadonlyArray<string>): string => names.join(", ")

/** An event in words; null if nothing changed, as for a cohort that opens or a decision without effect. */
const lineOf = (before: History.History, event: PopulationEvent): string | null => {
  switch (event._tag) {
    case "Created":
      return `Created with ${plural(event.members.length, "instruction")}, profile ${event.settings.profile}`
    case "Configured":
      return "Settings changed, effective from the next cohort"
    case "Frozen":
      return event.isFrozen ? "Frozen: no pruning, no evolution" : "Resumed"
    case "MemberAdded":
      return `${event.member.id} was added by hand`
    case "MemberPinned":
      return `${event.id} was ${event.isPinned ? "pinned" : "unpinned"}`
    case "MemberRetired":
      return `${event.id} was retired by hand`
    case "CandidateReviewed":
      return `Candidate ${event.place + 1} was ${event.isApproved ? "approved" : "rejected"} by hand`
    case "Pruned":
      return event.pruned.length === 0
        ? null
        : event.pruned
            .map((one) => `${one.id} was pruned: ${inFigures(History.evidence(before, one, event.kept))}`)
            .join(". ")
    case "ParentsChosen":
      return `Evolution started from ${list(event.parents)}`
    case "CandidatesProposed":
      return `${plural(event.candidates.length, "candidate")} proposed from ${event.parent}, round ${event.round}`
    case "VerificationBegun":
      return event.places.length === 0 ? "No candidate was approved" : null
    case "PopulationRefilled":
      return refilled(before, event)
    case "EvolutionSkipped":
      return `No evolution: ${event.reason}`
    case "Concluded":
      return event.incumbent.id === before.incumbent
        ? null
        : `The incumbent is now ${event.incumbent.id}: ${event.incumbent.why}`
    case "ValidationClosed":
      return `Validation ${event.cohort}: ${event.mean === null ? "no rewards" : `${percent(event.mean)} over ${plural(event.units, "unit")}`}`
    case "Rewound":
      return `Returned to ${event.to}; branch ${event.branch} started`
    default:
      return null
  }
}

const refilled = (before: History.History, { accepted, replaced }: EventOf<"PopulationRefilled">): string | null => {
  const parts = [
    ...(accepted.length === 0 ? [] : [`${list(accepted.map(({ instruction }) => instruction.id))} entered`]),
    ...replaced.map((one) => `${one.id} was replaced: ${inFigures(History.evidence(before, one, []))}`)
  ]
  return parts.length === 0 ? null : parts.join(". ")
}

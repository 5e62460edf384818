/** The log of a population in words, and the history of each member: its origin, its trial, and why it was removed. */
import type { EventOf, PopulationEvent } from "@inspo/cohorts"
import * as History from "@inspo/cohorts/History"
import { percent, plural, quantity } from "../Format.ts"
import { inWords } from "../Reason.ts"

/** A present or former member, with its trial and its removal in words. */
export interface MemberHistory extends Pick<History.Known, "id" | "content" | "parent" | "rationale" | "bornAfter"> {
  readonly entered: History.Known["origin"]
  readonly trial: string | null
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

const memberOf = ({ left, origin, trial, ...known }: History.Known): MemberHistory => ({
  ...known,
  entered: origin,
  trial:
    trial === null ? null : `${inWords(trial.verdict)}: ${percent(trial.mean)} over ${plural(trial.questions, "unit")}`,
  left: left === null ? null : { after: left.after, how: left.how, why: whyOf(left) }
})

const whyOf = (left: History.Departure): string => {
  if (left.how === "pruned") return inFigures(left)
  return left.how === "retired" ? "retired by hand" : `given up when the log went back to ${left.to}`
}

/**
 * Why one left, with the figures that were there: how certain it was, no more than it was, and its value beside that of the
 * best who stayed.
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
  "CandidatesJudged",
  "PopulationRefilled",
  "EvolutionSkipped"
])

const list = (names: ReadonlyArray<string>): string => names.join(", ")

/** What an event says to people; null where it is no news, as a cohort that opens, or a decision that changed nothing. */
const lineOf = (before: History.History, event: PopulationEvent): string | null => {
  switch (event._tag) {
    case "Created":
      return `Made with ${plural(event.members.length, "instruction")}, as ${event.settings.profile}`
    case "Configured":
      return "Settings changed, from the next cohort on"
    case "Frozen":
      return event.isFrozen ? "Frozen: nobody is pruned, and nothing evolves" : "It learns again"
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
      return `An evolution begins, from ${list(event.parents)}`
    case "CandidatesProposed":
      return `${plural(event.candidates.length, "candidate")} proposed from ${event.parent}, round ${event.round}`
    case "VerificationBegun":
      return event.places.length === 0
        ? "No candidate was let in"
        : `${plural(event.places.length, "candidate")} on trial${event.entering.length === 0 ? "" : `: ${list(event.entering.map(({ id }) => id))}`}`
    case "CandidatesJudged":
      return event.verdicts.length === 0 ? null : `The trial is over: ${event.verdicts.map(verdictOf).join("; ")}`
    case "PopulationRefilled":
      return refilled(before, event)
    case "EvolutionSkipped":
      return `No evolution: ${event.reason}`
    case "Concluded":
      return event.incumbent.id === before.incumbent
        ? null
        : `The incumbent is now ${event.incumbent.id}: ${event.incumbent.why}`
    case "ValidationClosed":
      return `Validation ${event.cohort}: ${event.mean === null ? "nothing reported" : `${percent(event.mean)} over ${plural(event.units, "unit")}`}`
    case "Rewound":
      return `Back to ${event.to}: branch ${event.branch} begins`
    default:
      return null
  }
}

const verdictOf = ({ mean, parentMean, questions, reason }: EventOf<"CandidatesJudged">["verdicts"][number]): string =>
  `${inWords(reason)}, ${percent(mean)}${parentMean === null ? "" : ` against ${percent(parentMean)}`} over ${plural(questions, "unit")}`

const refilled = (before: History.History, { accepted, replaced }: EventOf<"PopulationRefilled">): string | null => {
  const parts = [
    ...(accepted.length === 0 ? [] : [`${list(accepted.map(({ instruction }) => instruction.id))} entered`]),
    ...replaced.map((one) => `${one.id} left: ${inFigures(History.evidence(before, one, []))}`)
  ]
  return parts.length === 0 ? null : parts.join(". ")
}

/** The log of a population in words, and the history of each member: its origin, and why it was removed. */
import { type EventOf, History, Settings, type Summary } from "@inspo/cohorts"
import {
  type Naming,
  Text,
  inWords,
  labels,
  percent,
  plural,
  quantity,
  shortened,
  unnamed,
  withNames
} from "@inspo/report"
import * as Rewards from "./Rewards.ts"

/** A present or former member, with its removal in words. */
export interface MemberHistory extends Pick<History.Known, "id" | "content" | "parent" | "rationale" | "bornAfter"> {
  readonly entered: History.Known["origin"]
  readonly left: (Pick<History.Departure, "after" | "how"> & { readonly why: string }) | null
}

/** A decision or a change in words: what happened, why if that is known, and whether a person, a client or a rule did it. */
export interface Line {
  readonly at: string
  readonly tone: "plain" | "prune" | "evolve"
  readonly text: string
  readonly why: string | null
  readonly by: "hand" | "client" | "rule"
}

/** The summary of the log up to some event. `naming` has the names of instructions and of candidates. */
export interface PopulationLog {
  readonly history: History.History
  readonly naming: Naming
  readonly scale: Pick<Settings.Settings, "rewardRange">
  /** Whether the decisions after a cohort are being made. */
  readonly isDeciding: boolean
  readonly rewards: Rewards.Rewards
  readonly lines: ReadonlyArray<Line>
}

export const empty: PopulationLog = {
  history: History.none,
  naming: unnamed,
  scale: { rewardRange: [0, 1] },
  isDeciding: false,
  rewards: Rewards.none,
  lines: []
}

/** The log after one more event, which happened `at` a time, as ISO 8601. */
export const append = (before: PopulationLog, event: Summary.SummaryEvent, at: string): PopulationLog => {
  const history = History.after(before.history, event)
  const log: PopulationLog = {
    ...before,
    history,
    naming: named(before, history),
    scale: event._tag === "Created" || event._tag === "Configured" ? event.settings : before.scale,
    isDeciding: event._tag === "Closed" || (before.isDeciding && event._tag !== "Concluded"),
    rewards: Rewards.after(before.rewards, event)
  }
  const lines = linesOf(before, log, event)
  return lines.length === 0
    ? log
    : { ...log, lines: [...log.lines, ...lines.map((line) => ({ at, tone: toneOf(event), ...line }))] }
}

export const membersOf = (log: PopulationLog): ReadonlyMap<string, MemberHistory> =>
  new Map(
    [...log.history.known].flatMap(([id, known]) => (known.stage === "alive" ? [[id, memberOf(log, known)]] : []))
  )

const named = ({ history: { known }, naming }: PopulationLog, after: History.History): Naming => {
  if (after.known === known) return naming
  const added = [...after.known.values()].filter(({ content, id }) => known.get(id)?.content !== content)
  return added.length === 0
    ? naming
    : withNames(
        naming,
        added.map(({ content, id, parent }) => ({ id, parent, text: Text.oneText(content) }))
      )
}

const memberOf = (log: PopulationLog, { left, origin, ...known }: History.Known): MemberHistory => ({
  ...known,
  entered: origin,
  left: left === null ? null : { after: left.after, how: left.how, why: whyOf(log, left) }
})

const whyOf = (log: PopulationLog, left: History.Departure): string => {
  if (left.how === "pruned") return inFigures(log, left)
  return left.how === "retired" ? "retired by hand" : `removed when the population returned to ${left.to}`
}

const valueOf = ({ scale }: PopulationLog, value: number): string => quantity(Settings.onScale(scale, value))

const labelOf = ({ naming }: PopulationLog) => labels(naming.names)

/** Why an instruction was removed: certainty, rounded down, and its value next to that of the best remaining member. */
const inFigures = (log: PopulationLog, { best, leaving: { certainty, reason, value } }: History.Evidence): string =>
  [
    certainty === undefined
      ? inWords(reason)
      : `${inWords(reason)}, with certainty ${percent(Math.floor(1000 * certainty) / 1000)}`,
    `value ${valueOf(log, value)}${best === null ? "" : `, against ${valueOf(log, best.value)} of ${labelOf(log)(best.id)}`}`
  ].join("; ")

const toneOf = ({ _tag }: Summary.SummaryEvent): Line["tone"] =>
  _tag === "Pruned" || _tag === "MemberRetired" || _tag === "Paused" ? "prune" : evolving.has(_tag) ? "evolve" : "plain"

const evolving: ReadonlySet<Summary.SummaryEvent["_tag"]> = new Set([
  "ParentsChosen",
  "CandidatesProposed",
  "VerificationBegun",
  "PopulationRefilled",
  "EvolutionSkipped"
])

type Said = Omit<Line, "at" | "tone"> & Partial<Pick<Line, "tone">>

const hand = (text: string, why: string | null = null): Said => ({ text, why, by: "hand" })
const rule = (text: string, why: string | null = null): Said => ({ text, why, by: "rule" })

/** An event in words; nothing if nothing changed, as for a cohort that opens or a decision without effect. */
const linesOf = (before: PopulationLog, log: PopulationLog, event: Summary.SummaryEvent): ReadonlyArray<Said> => {
  const label = labelOf(log)
  switch (event._tag) {
    case "Created":
      return [hand(`Created with ${plural(event.members.length, "instruction")}, profile ${event.settings.profile}`)]
    case "Configured":
      return [hand("Settings changed, effective from the next cohort")]
    case "Frozen":
      return [
        hand(
          event.usesSeed === true
            ? "Switched to the seed: all leases get it"
            : event.isFrozen
              ? "Frozen: no pruning, no evolution"
              : "Resumed"
        )
      ]
    case "MemberAdded":
      return [hand(`${label(event.member.id)} was added`)]
    case "MemberPinned":
      return [
        event.isPinned
          ? hand(`${label(event.id)} was pinned`, "it is the incumbent until it is unpinned, whatever its rewards are")
          : hand(`${label(event.id)} was unpinned`, "the incumbent is chosen by the rewards again")
      ]
    case "MemberRetired":
      return [hand(`${label(event.id)} was retired`)]
    case "CandidateReviewed":
      return [hand(`${candidate(before, event.place)} was ${event.isApproved ? "approved" : "rejected"}`)]
    case "Paused":
      return [rule(`${label(event.id)} was paused`, pausedBy(event))]
    case "Pruned":
      return event.pruned.map((one) =>
        rule(`${label(one.id)} was pruned`, inFigures(log, History.evidence(before.history, one, event.kept)))
      )
    case "ParentsChosen":
      return [started(before, event)]
    case "CandidatesProposed":
      return [proposed(log, event)]
    case "VerificationBegun":
      return event.places.length === 0 && before.history.proposal?.candidates.length !== 0
        ? [hand("No candidate was approved", "every one was rejected")]
        : []
    case "PopulationRefilled":
      return refilled(before, log, event)
    case "EvolutionSkipped":
      return [rule("No evolution", event.reason)]
    case "Concluded":
      return event.incumbent.id === before.history.incumbent
        ? []
        : [rule(`The incumbent is now ${label(event.incumbent.id)}`, incumbentIn(log, event))]
    case "ValidationClosed":
      return [
        {
          text: `Validation ${event.cohort}: ${event.mean === null ? "no rewards" : `mean reward ${valueOf(log, event.mean)}`}`,
          why: `${plural(event.units, "unit")} of the incumbent`,
          by: "client"
        }
      ]
    case "Rewound":
      return [
        {
          text: `Returned to ${event.to}; branch ${event.branch} started`,
          why: "the cohorts after it no longer count",
          by: "client"
        }
      ]
    default:
      return []
  }
}

const pausedBy = ({ broken: { guardrail, lower, samples, value } }: EventOf<"Paused">): string =>
  `it breaks ${guardrail} in ${plural(samples, "sample")}: ${quantity(value)}, certainly at least ${quantity(lower)}`

const candidate = (log: PopulationLog, place: number): string => {
  const id = History.candidateId(log.history, place)
  return `Candidate ${id === null ? place + 1 : labelOf(log)(id)}`
}

/** An evolution is scheduled if it starts among the decisions after a cohort. */
const started = (before: PopulationLog, { parents, step }: EventOf<"ParentsChosen">): Said => {
  const text = `Evolution started from ${parents.map(labelOf(before)).join(", ")}`
  const values = before.history.values.filter(({ id }) => parents.includes(id))
  const ranked = `ranked first${values.length === 0 ? "" : `, with value ${values.map(({ value }) => valueOf(before, value)).join(", ")}`}`
  return before.isDeciding ? rule(text, `due after cohort ${step}; ${ranked}`) : hand(text, ranked)
}

const proposed = (log: PopulationLog, { candidates, parent, round }: EventOf<"CandidatesProposed">): Said => {
  const reasons = [...new Set(candidates.map(({ rationale }) => rationale.trim()))].filter((reason) => reason !== "")
  return rule(
    `${plural(candidates.length, "candidate")} proposed from ${labelOf(log)(parent)}, round ${round}`,
    reasons.length === 0 ? "the proposer gave no reason" : shortened(reasons.join("; "), longestReason)
  )
}

/** The most characters of a proposer's reasons in a line; the lineage shows them in full. */
const longestReason = 300

const refilled = (
  before: PopulationLog,
  log: PopulationLog,
  { accepted, replaced }: EventOf<"PopulationRefilled">
): ReadonlyArray<Said> => [
  ...accepted.map(({ instruction, mean, questions, verdict }) =>
    rule(
      `${labelOf(log)(instruction.id)} entered${instruction.parent === null ? "" : `, from ${labelOf(log)(instruction.parent)}`}`,
      `${inWords(verdict)}${questions === 0 ? "" : `; mean ${valueOf(log, mean)} on ${plural(questions, "question")}`}`
    )
  ),
  ...replaced.map((one) => ({
    ...rule(`${labelOf(log)(one.id)} was replaced`, inFigures(log, History.evidence(before.history, one, []))),
    tone: "prune" as const
  }))
]

const incumbentIn = (log: PopulationLog, { incumbent: { id, why } }: EventOf<"Concluded">): string => {
  const { values } = log.history
  const own = values.find((one) => one.id === id)
  const next = values.find((one) => one.id !== id)
  return [
    why === "nothing separates" ? "no instruction is known to be better than the seed" : why,
    ...(own === undefined
      ? []
      : [
          `value ${valueOf(log, own.value)}${next === undefined ? "" : `, against ${valueOf(log, next.value)} of ${labelOf(log)(next.id)}`}`
        ])
  ].join("; ")
}

/** What a population's log tells of each instruction: where it came from, how it was tried, and why it left. */
import type { EventOf, PopulationEvent } from "@inspo/cohorts"
import type { Content, Proposed } from "@inspo/cohorts/Learning"
import { percent, plural, quantity } from "../Format.ts"
import { inWords } from "../Reason.ts"

/** An instruction that is or was a member. `bornAfter` and `left.after` count the cohorts that the evidence rested on by then. */
export interface Story {
  readonly id: string
  readonly content: Content
  readonly entered: "seed" | "variant" | "added" | "proposed"
  readonly parent: string | null
  readonly rationale: string | null
  readonly bornAfter: number
  readonly trial: string | null
  readonly left: { readonly after: number; readonly how: "pruned" | "retired" | "rewound"; readonly why: string } | null
}

/** A thing that happened, in words. */
export interface Line {
  readonly at: string
  readonly tone: "plain" | "prune" | "evolve"
  readonly text: string
}

/** A log as far as it was told. `proposal` is the newest; `weights` are those by which members were last ranked, best first. */
export interface Stories {
  readonly stories: ReadonlyMap<string, Story>
  readonly lines: ReadonlyArray<Line>
  readonly folded: number
  readonly incumbent: string | null
  readonly weights: ReadonlyArray<readonly [id: string, weight: number]>
  readonly proposal: Pick<EventOf<"CandidatesProposed">, "candidates" | "parent"> | null
}

export const none: Stories = {
  stories: new Map(),
  lines: [],
  folded: 0,
  incumbent: null,
  weights: [],
  proposal: null
}

/** The stories after one more event, which happened `at` a time, as ISO 8601. Pure. */
export const tell = (before: Stories, event: PopulationEvent, at: string): Stories => {
  const text = lineOf(before, event)
  const after = change(before, event)
  return text === null ? after : { ...after, lines: [...before.lines, { at, tone: toneOf(event), text }] }
}

/** Those that have not left. */
export const alive = ({ stories }: Pick<Stories, "stories">): ReadonlyArray<Story> =>
  [...stories.values()].filter(({ left }) => left === null)

const change = (before: Stories, event: PopulationEvent): Stories => {
  switch (event._tag) {
    case "Created":
      return event.members.reduce<Stories>(
        (after, { content, instruction }, index) =>
          enter(after, { id: instruction.id, content, entered: index === 0 ? "seed" : "variant", parent: null }),
        { ...before, incumbent: event.members[0].instruction.id }
      )
    case "MemberAdded":
      return enter(before, {
        id: event.member.instruction.id,
        content: event.member.content,
        entered: "added",
        parent: event.member.instruction.parent
      })
    case "MemberRetired":
      return leave(before, event.id, "retired", "retired by hand")
    case "CohortOpened":
      return event.phase === "train" ? { ...before, weights: ranked(event.weights) } : before
    case "Closed":
      return { ...before, folded: event.index }
    case "CandidatesProposed":
      return { ...before, proposal: event }
    case "TrialBegun":
      return event.entering.reduce(
        (after, { content, instruction }) =>
          enter(after, { id: instruction.id, content, entered: "proposed", parent: instruction.parent }),
        before
      )
    case "Pruned":
      return depart(before, event.pruned, event.kept)
    case "Refilled":
      return event.accepted.reduce(
        (after, { content, instruction: { id, parent }, mean, questions, verdict }) =>
          note(
            after.stories.has(id) ? after : enter(after, { id, content, entered: "proposed", parent }),
            id,
            `${inWords(verdict)}: ${percent(mean)} over ${plural(questions, "unit")}`
          ),
        depart(before, event.replaced, [])
      )
    case "Concluded":
      return { ...before, incumbent: event.incumbent.id }
    case "Rewound":
      return rewound(before, event)
    default:
      return before
  }
}

const enter = (before: Stories, story: Pick<Story, "id" | "content" | "entered" | "parent">): Stories => ({
  ...before,
  stories: new Map(before.stories).set(story.id, {
    ...story,
    rationale: rationaleOf(before.proposal?.candidates ?? [], story.content),
    bornAfter: before.folded,
    trial: null,
    left: null
  })
})

const rationaleOf = (candidates: ReadonlyArray<Proposed>, content: Content): string | null => {
  const said = JSON.stringify(content)
  return candidates.find((one) => JSON.stringify(one.content) === said)?.rationale ?? null
}

const note = (before: Stories, id: string, trial: string): Stories => {
  const story = before.stories.get(id)
  return story === undefined ? before : { ...before, stories: new Map(before.stories).set(id, { ...story, trial }) }
}

const leave = (before: Stories, id: string, how: NonNullable<Story["left"]>["how"], why: string): Stories => {
  const story = before.stories.get(id)
  if (story === undefined) return before
  return {
    ...before,
    stories: new Map(before.stories).set(id, { ...story, left: { after: before.folded, how, why } })
  }
}

type Leaving = EventOf<"Pruned">["pruned"][number]

const depart = (before: Stories, leaving: ReadonlyArray<Leaving>, kept: ReadonlyArray<string>): Stories =>
  leaving.reduce((after, one) => leave(after, one.id, "pruned", evidence(before, one, kept)), before)

/** Why one left, with the figures that were there: how certain it was, and its value beside that of the best who stayed. */
const evidence = (
  { weights }: Stories,
  { certainty, id, reason, weight }: Leaving,
  kept: ReadonlyArray<string>
): string => {
  const best = weights.find((one) => one[0] !== id && (kept.length === 0 || kept.includes(one[0])))
  return [
    certainty === undefined ? inWords(reason) : `${inWords(reason)}, with certainty ${percent(certainty)}`,
    `value ${quantity(weight)}${best === undefined ? "" : `, against ${quantity(best[1])} of ${best[0]}`}`
  ].join("; ")
}

/** Whoever lives on the branch that goes on is back, and everyone else gone. */
const rewound = (before: Stories, { learning, to }: EventOf<"Rewound">): Stories => {
  const living = new Set<string>(learning.population.members.map(({ instruction }) => instruction.id))
  const back = { ...before, folded: learning.folded, incumbent: learning.incumbent.id, proposal: null }
  const stories = new Map(before.stories)
  for (const [id, story] of before.stories)
    if (living.has(id)) stories.set(id, { ...story, left: null })
    else if (story.left === null)
      stories.set(id, {
        ...story,
        left: { after: learning.folded, how: "rewound", why: `given up when the log went back to ${to}` }
      })
  return { ...back, stories }
}

const ranked = (weights: EventOf<"CohortOpened">["weights"]): Stories["weights"] =>
  weights.map(({ id, weight }) => [id, weight] as const).sort((a, b) => b[1] - a[1])

const toneOf = ({ _tag }: PopulationEvent): Line["tone"] =>
  _tag === "Pruned" || _tag === "MemberRetired" ? "prune" : evolving.has(_tag) ? "evolve" : "plain"

const evolving: ReadonlySet<PopulationEvent["_tag"]> = new Set([
  "ParentsChosen",
  "CandidatesProposed",
  "TrialBegun",
  "CandidatesJudged",
  "Refilled",
  "EvolutionSkipped"
])

const list = (names: ReadonlyArray<string>): string => names.join(", ")

/** What an event says to people; null where it is no news, as a cohort that opens, or a decision that changed nothing. */
const lineOf = (before: Stories, event: PopulationEvent): string | null => {
  switch (event._tag) {
    case "Created":
      return `Made with ${plural(event.members.length, "instruction")}, as ${event.settings.profile}`
    case "Configured":
      return "Settings changed, from the next cohort on"
    case "Frozen":
      return event.isFrozen ? "Frozen: nobody is pruned, and nothing evolves" : "It learns again"
    case "MemberAdded":
      return `${event.member.instruction.id} was added by hand`
    case "MemberPinned":
      return `${event.id} was ${event.isPinned ? "pinned" : "unpinned"}`
    case "MemberRetired":
      return `${event.id} was retired by hand`
    case "CandidateReviewed":
      return `Candidate ${event.place + 1} was ${event.isApproved ? "approved" : "rejected"} by hand`
    case "Pruned":
      return event.pruned.length === 0
        ? null
        : event.pruned.map((one) => `${one.id} was pruned: ${evidence(before, one, event.kept)}`).join(". ")
    case "ParentsChosen":
      return `An evolution begins, from ${list(event.parents)}`
    case "CandidatesProposed":
      return `${plural(event.candidates.length, "candidate")} proposed from ${event.parent}, round ${event.round}`
    case "TrialBegun":
      return event.candidates.length === 0
        ? "No candidate was let in"
        : `${plural(event.candidates.length, "candidate")} on trial${event.entering.length === 0 ? "" : `: ${list(event.entering.map(({ instruction }) => instruction.id))}`}`
    case "CandidatesJudged":
      return event.verdicts.length === 0 ? null : `The trial is over: ${event.verdicts.map(verdictOf).join("; ")}`
    case "Refilled":
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

const refilled = (before: Stories, { accepted, replaced }: EventOf<"Refilled">): string | null => {
  const parts = [
    ...(accepted.length === 0 ? [] : [`${list(accepted.map(({ instruction }) => instruction.id))} entered`]),
    ...replaced.map((one) => `${one.id} left: ${evidence(before, one, [])}`)
  ]
  return parts.length === 0 ? null : parts.join(". ")
}

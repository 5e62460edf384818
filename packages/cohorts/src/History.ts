/** The history of each instruction in a population's log: its origin and its removal. */
import { Instruction } from "@inspo/domain"
import type { Population } from "@inspo/population"
import type { EventOf, PopulationEvent } from "./Event.ts"
import { proposalId } from "./Learning.ts"
import type { SummaryEvent } from "./Summary.ts"

/** An instruction as it was. `bornAfter` and `left.after` count the cohorts that the evidence rested on by then. */
export interface Known {
  readonly id: Instruction.InstructionId
  readonly content: Instruction.Content
  readonly origin: Instruction.InstructionOrigin | "added"
  readonly parent: Instruction.InstructionId | null
  readonly generation: number
  readonly rationale: string | null
  readonly bornAfter: number
  readonly stage: "alive" | "waiting" | "approved" | "rejected"
  readonly left: Departure | null
}

/** How a member left. */
export type Departure = { readonly after: number } & (
  | ({ readonly how: "pruned" } & Evidence)
  | { readonly how: "retired" }
  | { readonly how: "rewound"; readonly to: string }
)

/** Why a rule removed a member: its own figures, and the best of the remaining members, if they were ranked. */
export interface Evidence {
  readonly leaving: EventOf<"Pruned">["pruned"][number]
  readonly best: Population.Value | null
}

/**
 * A log as far as it was read. `known` holds the instructions of the present branch and of those it began on, `past` those of
 * each branch that was given up, by then: ids repeat. `values` are those by which members were last ranked, best first.
 */
export interface History {
  readonly branch: number
  readonly known: ReadonlyMap<string, Known>
  readonly past: ReadonlyMap<number, ReadonlyMap<string, Known>>
  readonly folded: number
  readonly incumbent: Instruction.InstructionId | null
  readonly values: ReadonlyArray<Population.Value>
  readonly proposal: Proposal | null
}

type Proposal = Pick<EventOf<"CandidatesProposed">, "step" | "round" | "parent" | "candidates">

/** The history before the first event. */
export const none: History = {
  branch: 0,
  known: new Map(),
  past: new Map(),
  folded: 0,
  incumbent: null,
  values: [],
  proposal: null
}

/** An instruction on a branch. */
export const find = ({ branch, known, past }: History, on: number, id: Instruction.InstructionId): Known | undefined =>
  (on === branch ? known : past.get(on))?.get(id)

/** The present stage of an instruction, or how it was removed. */
export const fate = ({ left, stage }: Known): Known["stage"] | Departure["how"] => left?.how ?? stage

/** The evidence for a removal, with the best of the `kept` members; empty if the log does not list them. */
export const evidence = (
  { values }: History,
  leaving: Evidence["leaving"],
  kept: ReadonlyArray<Instruction.InstructionId>
): Evidence => ({
  leaving,
  best: values.find(({ id }) => id !== leaving.id && (kept.length === 0 || kept.includes(id))) ?? null
})

/** The id of a candidate of the latest proposal while it waits for a review; null before the first proposal. */
export const candidateId = ({ proposal }: History, place: number): Instruction.InstructionId | null =>
  proposal === null ? null : proposalId(proposal, place)

/** The history after one more event. Pure. */
export const after = (before: History, event: PopulationEvent | SummaryEvent): History => {
  switch (event._tag) {
    case "Created":
      return event.members.reduce(enter, { ...before, incumbent: event.members[0].id })
    case "MemberAdded":
      return learn(before, {
        ...event.member,
        content: Instruction.contentOf(event.member),
        origin: "added",
        stage: "alive"
      })
    case "MemberRetired":
      return change(before, event.id, { left: { how: "retired", after: before.folded } })
    case "CohortOpened":
      return event.phase === "train"
        ? { ...before, values: event.values.toSorted((a, b) => b.value - a.value) }
        : before
    case "Closed":
      return { ...before, folded: event.index }
    case "CandidatesProposed":
      return propose({ ...before, proposal: event }, event.candidates)
    case "CandidateReviewed":
      return before.proposal === null
        ? before
        : change(before, proposalId(before.proposal, event.place), {
            stage: event.isApproved ? "approved" : "rejected"
          })
    case "Pruned":
      return depart(before, event.pruned, event.kept)
    case "PopulationRefilled":
      return event.accepted.reduce(
        (after, { instruction }) => enter(after, instruction),
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

const learn = (
  before: History,
  { content, generation, id, origin, parent, stage }: Omit<Known, "rationale" | "bornAfter" | "left">
): History => ({
  ...before,
  known: new Map(before.known).set(id, {
    id,
    content,
    origin,
    parent,
    generation,
    rationale: rationaleOf(before.proposal?.candidates ?? [], content),
    bornAfter: before.folded,
    stage,
    left: null
  })
})

const rationaleOf = (candidates: ReadonlyArray<Instruction.Candidate>, content: Instruction.Content): string | null => {
  const said = JSON.stringify(content)
  return candidates.find((one) => JSON.stringify(Instruction.contentOf(one)) === said)?.rationale ?? null
}

const enter = (before: History, instruction: Instruction.Instruction): History =>
  learn(before, { ...instruction, content: Instruction.contentOf(instruction), stage: "alive" })

const propose = (before: History, candidates: ReadonlyArray<Instruction.Candidate>): History => {
  const { known, proposal } = before
  if (proposal === null) return before
  const { parent } = proposal
  const generation = (known.get(parent)?.generation ?? 0) + 1
  return candidates.reduce(
    (after, candidate, place) =>
      learn(after, {
        id: proposalId(proposal, place),
        content: Instruction.contentOf(candidate),
        origin: "proposed",
        parent,
        generation,
        stage: "waiting"
      }),
    before
  )
}

const change = (before: History, id: Instruction.InstructionId, by: Partial<Known>): History => {
  const one = before.known.get(id)
  return one === undefined ? before : { ...before, known: new Map(before.known).set(id, { ...one, ...by }) }
}

const depart = (
  before: History,
  leaving: ReadonlyArray<Evidence["leaving"]>,
  kept: ReadonlyArray<Instruction.InstructionId>
): History =>
  leaving.reduce(
    (after, one) =>
      change(after, one.id, { left: { how: "pruned", after: before.folded, ...evidence(before, one, kept) } }),
    before
  )

/** The members of the continued branch are alive again; all others, and what was proposed since, are removed. */
const rewound = (before: History, { branch, learning, to }: EventOf<"Rewound">): History => {
  const { evolution, incumbent, population } = learning
  const folded = population.step
  const living = new Set<string>(population.members.map(({ instruction }) => instruction.id))
  const gone: Departure = { how: "rewound", after: folded, to }
  // The continued state was stored when its last cohort was counted, before the proposals since.
  const isGone = ({ bornAfter, stage }: Known) => stage === "alive" || bornAfter >= folded
  const left = (one: Known) => (living.has(one.id) ? null : isGone(one) ? (one.left ?? gone) : one.left)
  return {
    ...before,
    branch,
    known: new Map([...before.known].map(([id, one]) => [id, { ...one, left: left(one) }])),
    past: new Map(before.past).set(before.branch, before.known),
    folded,
    incumbent: incumbent.id,
    proposal:
      evolution === null || evolution.stage._tag === "Proposing"
        ? null
        : { ...evolution.stage, step: evolution.step, round: evolution.round }
  }
}

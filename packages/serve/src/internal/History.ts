/** Instructions that a population knew and its state has forgotten, from its log. */
import { candidateId, type EventOf, type Learning, type PopulationEvent, proposalId, State } from "@inspo/cohorts"
import type { Instruction, InstructionId } from "@inspo/domain/Instruction"
import type { Journal, JournalError } from "@inspo/journal"
import { Effect } from "effect"
import * as Loading from "./Loading.ts"

/** An instruction as it was, and how it left if it did. Candidates have the ids they have while they are tried. */
export interface Known {
  readonly content: Learning.Content
  readonly origin: Instruction["origin"] | "added"
  readonly parent: InstructionId | null
  readonly generation: number
  readonly fate: "alive" | "waiting" | "approved" | "rejected" | "pruned" | "retired"
}

/** What is known of the instructions of each branch: ids repeat after a rewind. */
export type History = ReadonlyMap<string, Known>

/** Reads a log, oldest first. */
export const read = (events: Iterable<PopulationEvent>): History => {
  const known = new Map<string, Known>()
  let branch = 0
  let proposed: EventOf<"CandidatesProposed"> | null = null
  const learn = (instruction: Instruction, content: Learning.Content, origin: Known["origin"]) => {
    const { generation, id, parent } = instruction
    known.set(name(branch, id), { content, origin, parent, generation, fate: "alive" })
  }
  const candidate = (id: InstructionId, content: Learning.Content, parent: InstructionId, fate: Known["fate"]) => {
    const { generation = 0 } = known.get(name(branch, parent)) ?? {}
    known.set(name(branch, id), { content, origin: "proposed", parent, generation: generation + 1, fate })
  }
  const tell = (id: InstructionId, fate: Known["fate"]) => {
    const one = known.get(name(branch, id))
    if (one !== undefined) known.set(name(branch, id), { ...one, fate })
  }
  for (const event of events) {
    switch (event._tag) {
      case "Created":
        for (const { content, instruction } of event.members) learn(instruction, content, instruction.origin)
        break
      case "MemberAdded":
        learn(event.member.instruction, event.member.content, "added")
        break
      case "CandidatesProposed":
        proposed = event
        for (const [place, { content }] of event.candidates.entries())
          candidate(proposalId(event, place), content, event.parent, "waiting")
        break
      case "CandidateReviewed":
        if (proposed !== null) tell(proposalId(proposed, event.place), event.isApproved ? "approved" : "rejected")
        break
      case "TrialBegun":
        for (const { content, instruction } of event.entering) learn(instruction, content, instruction.origin)
        if (proposed !== null)
          for (const [place, { content }] of event.candidates.entries())
            candidate(candidateId(event, place), content, proposed.parent, "approved")
        break
      case "Refilled":
        for (const { id } of event.replaced) tell(id, "pruned")
        for (const { content, instruction } of event.accepted) learn(instruction, content, instruction.origin)
        break
      case "Pruned":
        for (const { id } of event.pruned) tell(id, "pruned")
        break
      case "MemberRetired":
        tell(event.id, "retired")
        break
      case "Rewound":
        branch = event.branch
        break
      default:
    }
  }
  return known
}

/** The history that a journal holds. It reads the whole log. */
export const load = (journal: Journal.Interface): Effect.Effect<History, JournalError> =>
  Effect.map(Loading.events(journal), (log) => read(log.map(({ event }) => event)))

/** What was known of an instruction on a branch, or before it began. */
export const find = (
  history: History,
  { branches }: Pick<State.State, "branches">,
  branch: number,
  id: InstructionId
): Known | undefined =>
  State.ancestry({ branch, branches })
    .map((one) => history.get(name(one.branch, id)))
    .find((one) => one !== undefined)

const name = (branch: number, id: InstructionId): string => `${branch}/${id}`

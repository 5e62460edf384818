/** What a proposer that learns wrote down with its last proposal, and what became of the candidates. */
import { Instruction } from "@inspo/domain"
import { Difference, type Population } from "@inspo/population"
import { Schema } from "effect"
import type { EventOf } from "./Event.ts"

/** `outcomes` is null until the candidates are judged; a gain is the verified difference to the parent, null without one. */
export const Notebook = Schema.Struct({
  notes: Schema.Json,
  parent: Instruction.InstructionId,
  outcomes: Schema.NullOr(Schema.Array(Schema.Struct({ text: Schema.String, gain: Schema.NullOr(Schema.Finite) })))
})
export interface Notebook extends Schema.Schema.Type<typeof Notebook> {}

export interface Noted {
  readonly notebook?: Notebook
}

/** The notebook after a proposal. One without notes leaves the notes of the last one, as a failed proposal has none. */
export const proposed = (
  { notebook }: Noted,
  { notes, parent }: Pick<EventOf<"CandidatesProposed">, "notes" | "parent">
): Noted =>
  notes === undefined ? (notebook === undefined ? {} : { notebook }) : { notebook: { notes, parent, outcomes: null } }

/** The notebook after an evolution that ended with a proposal of which nothing could be tried. */
export const unusable = ({ noted }: Pick<EventOf<"EvolutionSkipped">, "noted">): Noted =>
  noted === undefined ? {} : { notebook: { ...noted, outcomes: [] } }

/** The notebook after the verdicts on the candidates of its proposal. */
export const judged = (
  { notebook }: Noted,
  candidates: ReadonlyArray<Instruction.Candidate>,
  { verdicts }: Pick<EventOf<"CandidatesJudged">, "verdicts">
): Noted => {
  if (notebook === undefined || notebook.outcomes !== null) return notebook === undefined ? {} : { notebook }
  const outcomes = candidates.map(({ text }, index) => {
    const { mean, parentMean = null, questions = 0 } = verdicts[index] ?? {}
    return { text, gain: mean === undefined || parentMean === null || questions === 0 ? null : mean - parentMean }
  })
  return { notebook: { ...notebook, outcomes } }
}

/**
 * The notebook for the next request. A candidate that entered untried gained what it is better than its parent so far, within
 * questions; 0 where one of them is no member.
 */
export const ofState = ({ notebook, population }: Noted & { readonly population: Population.Contents }) => {
  if (notebook === undefined) return undefined
  const { notes, outcomes, parent } = notebook
  const gainOf = (text: string): number => {
    const member = population.members.find(({ instruction }) => instruction.text === text)
    // Before its first reward a member has the value of the prior.
    if (member === undefined || member.lifetime.trajectories === 0) return 0
    return Difference.between(population, member.instruction.id, parent)?.mean ?? 0
  }
  return { notes, outcomes: (outcomes ?? []).map(({ gain, text }) => ({ text, gain: gain ?? gainOf(text) })) }
}

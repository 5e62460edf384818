/** The state of evolution between two units of time: a fold of its events, immutable and of bounded size. */
import { Schema } from "effect"
import { Instruction, Question } from "@inspo/domain"
import { Population } from "@inspo/population"
import { Verification } from "@inspo/verification"
import { Admission } from "@inspo/successive-halving"
import { Notebook } from "./Notebook.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * The samples of one unit of work under one instruction: their rewards, in [0, 1], how many rewards are missing, and how many failed with
 * their environment, which are no evidence.
 */
export const Group = Schema.Struct({
  instruction: Instruction.InstructionId,
  question: Schema.NullOr(Question.QuestionId),
  stratum: Schema.String,
  rewards: Schema.Array(Schema.Finite),
  missing: Count,
  failed: Schema.optionalKey(Count)
})
export interface Group extends Schema.Schema.Type<typeof Group> {}

/** A verified candidate with its parent. */
export const Verified = Schema.Struct({
  ...Verification.Verdict.fields,
  candidate: Instruction.Candidate,
  parent: Instruction.InstructionId
})
export interface Verified extends Schema.Schema.Type<typeof Verified> {}

/** Scores on verification questions, as {@link Verification.Scores}. */
export const Scores = Schema.Struct({
  questions: Schema.Array(Question.QuestionId),
  candidates: Schema.Array(Schema.Array(Schema.Finite)),
  parent: Schema.NullOr(Schema.Array(Schema.Finite))
})
export interface Scores extends Schema.Schema.Type<typeof Scores> {}

const proposal = {
  parent: Instruction.InstructionId,
  candidates: Schema.Array(Instruction.Candidate),
  reflected: Schema.Array(Question.QuestionId)
}

/**
 * What an evolution waits for: a proposal (`Proposing`), the permission to use it (`Proposed`), or the scores of its candidates
 * (`Verifying`). `reflected` are the questions that candidates were written from; no candidate is asked them.
 */
export const Stage = Schema.Union([
  Schema.TaggedStruct("Proposing", {}),
  Schema.TaggedStruct("Proposed", proposal),
  Schema.TaggedStruct("Verifying", { ...proposal, scores: Schema.NullOr(Scores) })
])
export type Stage = typeof Stage.Type

/** An evolution in progress: `step` is the unit of time after which it began, `verified` what earlier rounds brought. */
export const Evolution = Schema.Struct({
  step: Count,
  round: Count,
  parents: Schema.Array(Instruction.InstructionId),
  verified: Schema.Array(Verified),
  stage: Stage
})
export interface Evolution extends Schema.Schema.Type<typeof Evolution> {}

/** An evolution whose stage is known. */
export type EvolutionIn<Tag extends Stage["_tag"]> = Evolution & {
  readonly stage: Extract<Stage, { readonly _tag: Tag }>
}

/** Which decision is due; `Nothing`: none before the next groups, or before what an evolution waits for. */
export const Due = Schema.Literals(["Nothing", "Judge", "Refill", "Prune", "ChooseParents", "Conclude"])
export type Due = typeof Due.Type

/**
 * The state of evolution. Its unit of time, `population.step`, is a step of training or a cohort. `newcomers` entered since the
 * last unit, `entrants` in the last evolution, null before the first. `born` counts all instructions that were ever members. `notebook` is that of a proposer that learns.
 */
export const EvolutionState = Schema.Struct({
  due: Due,
  population: Population.Contents,
  newcomers: Schema.Array(Instruction.InstructionId),
  born: Count,
  entrants: Schema.NullOr(Admission.Entrants),
  evolution: Schema.NullOr(Evolution),
  notebook: Schema.optionalKey(Notebook)
})
export interface EvolutionState extends Schema.Schema.Type<typeof EvolutionState> {}

/** The id of the `index`-th instruction, counted from 0: the seed is `i0`. */
export const instructionId = (index: number): Instruction.InstructionId => Instruction.InstructionId.make(`i${index}`)

/** The id of a candidate while it is verified; `place` counts the candidates of a round from 0. */
export const candidateId = (
  { round, step }: Pick<Evolution, "round" | "step">,
  place: number
): Instruction.InstructionId => Instruction.InstructionId.make(`candidate-${step}.${round}.${place}`)

/** A candidate as an instruction that can be followed; `place` counts the candidates of its round from 0. */
export const candidateInstruction = (
  evolution: Pick<Evolution, "round" | "step">,
  candidate: Instruction.Candidate,
  place: number
): Instruction.Instruction => ({
  ...Instruction.ofContent(Instruction.contentOf(candidate)),
  id: candidateId(evolution, place),
  generation: 0,
  parent: null,
  origin: "proposed",
  bornAt: evolution.step
})

/** Whether an instruction is a member. */
export const isAlive = ({ members }: Population.Contents, id: Instruction.InstructionId): boolean =>
  members.some(({ instruction }) => instruction.id === id)

/** Whether an evolution is in this stage. */
export const isIn = <Tag extends Stage["_tag"]>(evolution: Evolution | null, tag: Tag): evolution is EvolutionIn<Tag> =>
  evolution?.stage._tag === tag

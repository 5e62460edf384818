/** The decisions of evolution and their inputs. An event holds the decision; the state is a fold of events. */
import { Schema } from "effect"
import { Instruction, Question } from "@inspo/domain"
import { Verification } from "@inspo/verification"
import { Removal } from "@inspo/successive-halving"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Scores = Schema.Array(Schema.Finite)

/** What a proposer that learns wrote down with an answer about a parent of which nothing could be tried. */
const noted = Schema.optionalKey(Schema.Struct({ notes: Schema.Json, parent: Instruction.InstructionId }))

/** A rule of removal pruned instructions, and `kept` stay. */
export const Pruned = Schema.TaggedStruct("Pruned", {
  step: Count,
  pruned: Schema.Array(Removal.Pruned),
  kept: Schema.Array(Instruction.InstructionId)
})

/** The start of an evolution: the parents of its candidates, best first. */
export const ParentsChosen = Schema.TaggedStruct("ParentsChosen", {
  step: Count,
  parents: Schema.NonEmptyArray(Instruction.InstructionId)
})

/** The proposer's answer for a parent. No candidate is asked the questions of `reflected`; `notes` are those of a proposer that learns. */
export const CandidatesProposed = Schema.TaggedStruct("CandidatesProposed", {
  step: Count,
  round: Count,
  parent: Instruction.InstructionId,
  candidates: Schema.Array(Instruction.Candidate),
  reflected: Schema.Array(Question.QuestionId),
  notes: Schema.optionalKey(Schema.Json)
})

/**
 * Verification began for the candidates at these `places` of the proposal. Without `asks` no question is asked, and the
 * verdicts follow at once.
 */
export const VerificationBegun = Schema.TaggedStruct("VerificationBegun", {
  step: Count,
  round: Count,
  places: Schema.Array(Count),
  asks: Schema.Boolean
})

/**
 * Scores on the verification questions that nothing failed on. `candidates[i][k]` is the score of candidate i on question k.
 * `parent` is null if the parent was not run again.
 */
export const CandidatesVerified = Schema.TaggedStruct("CandidatesVerified", {
  step: Count,
  round: Count,
  questions: Schema.Array(Question.QuestionId),
  candidates: Schema.Array(Scores),
  parent: Schema.NullOr(Scores)
})

/** The end of a round: a verdict on each candidate, in their order, and whether another round of proposing follows. */
export const CandidatesJudged = Schema.TaggedStruct("CandidatesJudged", {
  step: Count,
  round: Count,
  verdicts: Schema.Array(Verification.Verdict),
  again: Schema.Boolean
})

/** The population after an evolution: accepted candidates join. They took the places of `replaced`; `shortfall` places stay empty. */
export const PopulationRefilled = Schema.TaggedStruct("PopulationRefilled", {
  step: Count,
  parents: Schema.Array(Instruction.InstructionId),
  replaced: Schema.Array(Removal.Pruned),
  accepted: Schema.Array(
    Schema.Struct({
      instruction: Instruction.Instruction,
      mean: Schema.Finite,
      questions: Count,
      verdict: Schema.String
    })
  ),
  shortfall: Count,
  noted
})

/** An evolution that could not take place, and why. */
export const EvolutionSkipped = Schema.TaggedStruct("EvolutionSkipped", { step: Count, reason: Schema.String, noted })

/** Every decision of evolution and every input to it. */
export const EvolutionEvent = Schema.Union([
  Pruned,
  ParentsChosen,
  CandidatesProposed,
  VerificationBegun,
  CandidatesVerified,
  CandidatesJudged,
  PopulationRefilled,
  EvolutionSkipped
])
export type EvolutionEvent = typeof EvolutionEvent.Type

/** What evolution decides by itself. */
export type Decision = Exclude<
  EvolutionEvent,
  { readonly _tag: "CandidatesProposed" | "CandidatesVerified" | "EvolutionSkipped" }
>

/** The event with this tag. */
export type EventOf<Tag extends EvolutionEvent["_tag"]> = Extract<EvolutionEvent, { readonly _tag: Tag }>

/** An event that cannot follow those before it: the log is inconsistent. */
export class UnexpectedEvent extends Schema.TaggedError<UnexpectedEvent>()("UnexpectedEvent", {
  event: Schema.String,
  expected: Schema.String
}) {
  override get message() {
    return `log: ${this.event} cannot follow; expected ${this.expected}`
  }
}

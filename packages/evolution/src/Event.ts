/** What evolution decides, and what it is given to decide on. An event holds the decision; the state is a fold of these. */
import { Schema } from "effect"
import { Candidate, Instruction, InstructionId } from "@inspo/domain/Instruction"
import { QuestionId } from "@inspo/domain/Question"
import { Pruned as Leaving } from "@inspo/successive-halving/SuccessiveHalving"
import { Verdict } from "@inspo/verification/Verification"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Scores = Schema.Array(Schema.Finite)

/** Instructions left the population by successive halving, and `kept` stay. */
export const Pruned = Schema.TaggedStruct("Pruned", {
  step: Count,
  pruned: Schema.Array(Leaving),
  kept: Schema.Array(InstructionId)
})

/** The beginning of an evolution: the instructions that candidates are to descend from, best first. */
export const ParentsChosen = Schema.TaggedStruct("ParentsChosen", {
  step: Count,
  parents: Schema.NonEmptyArray(InstructionId)
})

/** What the proposer answered when it was shown a parent. No candidate is asked the questions of `reflected`. */
export const CandidatesProposed = Schema.TaggedStruct("CandidatesProposed", {
  step: Count,
  round: Count,
  parent: InstructionId,
  candidates: Schema.Array(Candidate),
  reflected: Schema.Array(QuestionId)
})

/**
 * The candidates at these `places` of the proposal began to be verified. `entering` are those that become members and share the traffic with the others. Without
 * `asks` no question is asked, and the verdicts follow at once.
 */
export const VerificationBegun = Schema.TaggedStruct("VerificationBegun", {
  step: Count,
  round: Count,
  places: Schema.Array(Count),
  entering: Schema.Array(Instruction),
  asks: Schema.Boolean
})

/**
 * Scores on one batch of verification questions: `asked` of them, of which `questions` are those that none failed on.
 * `candidates[i][k]` belongs to candidate i and question k, and is empty for one that had left; `parent` was asked too or is
 * null. A round has one batch or several, counted from 0.
 */
export const CandidatesVerified = Schema.TaggedStruct("CandidatesVerified", {
  step: Count,
  round: Count,
  batch: Count,
  asked: Count,
  questions: Schema.Array(QuestionId),
  candidates: Schema.Array(Scores),
  parent: Schema.NullOr(Scores)
})

/** An interim analysis of a round of verification: the candidates that stay for another batch, by their places. */
export const VerificationContinued = Schema.TaggedStruct("VerificationContinued", {
  step: Count,
  round: Count,
  remaining: Schema.NonEmptyArray(Count)
})

/** The end of a round: a verdict on each of its candidates, in their order, and whether another round of proposing follows. */
export const CandidatesJudged = Schema.TaggedStruct("CandidatesJudged", {
  step: Count,
  round: Count,
  verdicts: Schema.Array(Verdict),
  again: Schema.Boolean
})

/**
 * The population after an evolution: windows are reset, and accepted candidates enter that were no members yet. `replaced` gave
 * way to them; `shortfall` places stay empty.
 */
export const PopulationRefilled = Schema.TaggedStruct("PopulationRefilled", {
  step: Count,
  parents: Schema.Array(InstructionId),
  replaced: Schema.Array(Leaving),
  accepted: Schema.Array(
    Schema.Struct({ instruction: Instruction, mean: Schema.Finite, questions: Count, verdict: Schema.String })
  ),
  shortfall: Count
})

/** An evolution that could not take place, and why. */
export const EvolutionSkipped = Schema.TaggedStruct("EvolutionSkipped", { step: Count, reason: Schema.String })

/** Everything that evolution decides or is given. */
export const EvolutionEvent = Schema.Union([
  Pruned,
  ParentsChosen,
  CandidatesProposed,
  VerificationBegun,
  CandidatesVerified,
  VerificationContinued,
  CandidatesJudged,
  PopulationRefilled,
  EvolutionSkipped
])
export type EvolutionEvent = typeof EvolutionEvent.Type

/** What evolution decides by itself. */
export type Decision = Exclude<EvolutionEvent, { readonly _tag: "CandidatesProposed" | "EvolutionSkipped" }>

/** The event with this tag. */
export type EventOf<Tag extends EvolutionEvent["_tag"]> = Extract<EvolutionEvent, { readonly _tag: Tag }>

/** An event that cannot follow those before it: the log is not of one piece. */
export class UnexpectedEvent extends Schema.TaggedError<UnexpectedEvent>()("UnexpectedEvent", {
  event: Schema.String,
  expected: Schema.String
}) {
  override get message() {
    return `log: ${this.event} cannot follow; expected ${this.expected}`
  }
}

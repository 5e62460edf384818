/** What a population has learned: the part of its state that a rewind brings back. Plain data of a bounded size. */
import { Schema } from "effect"
import { Instruction, InstructionId } from "@inspo/domain/Instruction"
import { QuestionId } from "@inspo/domain/Question"
import { Population } from "@inspo/population/Population"
import { Verdict } from "@inspo/verification/Verification"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** What an instruction says: one text, or several by name that are leased together. */
export const Content = Schema.Union([Schema.NonEmptyString, Schema.Record(Schema.String, Schema.NonEmptyString)])
export type Content = typeof Content.Type

/** How a member came in: with the population, by hand, or by evolution. */
export const Entry = Schema.Literals(["creation", "hand", "evolution"])
export type Entry = typeof Entry.Type

/**
 * The sums of the mean rewards of a member's units, each begun at 1/2 as if one unit had come before the first: `low` with 0
 * for what was not reported, `high` with 1. `shared` is, for each rival, Σ n m / (n + m) over the cohorts both had units in.
 */
export const Bounds = Schema.Struct({
  units: Count,
  low: Schema.Finite,
  high: Schema.Finite,
  shared: Schema.Record(Schema.String, Schema.Finite)
})
export interface Bounds extends Schema.Schema.Type<typeof Bounds> {}

/** Samples leased, those reported, and the sum of their rewards. Late rewards count as reported. */
export const Tally = Schema.Struct({ samples: Count, reported: Count, sum: Schema.Finite })
export interface Tally extends Schema.Schema.Type<typeof Tally> {}

/**
 * What is kept of a member beside the statistics of `population`. `generation` is the one in which it entered, by which its
 * share of δ is reckoned. `shown` are the estimates by stratum; they decide nothing.
 */
export const Dossier = Schema.Struct({
  content: Content,
  entry: Entry,
  generation: Count,
  isNewcomer: Schema.Boolean,
  isPinned: Schema.Boolean,
  bounds: Bounds,
  shown: Schema.Record(Schema.String, Tally)
})
export interface Dossier extends Schema.Schema.Type<typeof Dossier> {}

/** A proposed content with the reason its proposer gives. */
export const Proposed = Schema.Struct({ content: Content, rationale: Schema.String })
export interface Proposed extends Schema.Schema.Type<typeof Proposed> {}

/** A verified candidate with the parent it revises. */
export const Verified = Schema.Struct({ ...Verdict.fields, candidate: Proposed, parent: InstructionId })
export interface Verified extends Schema.Schema.Type<typeof Verified> {}

/** A round of verification as `@inspo/verification/Round` has it. */
export const Round = Schema.Struct({
  batches: Count,
  latest: Count,
  asked: Count,
  questions: Schema.Array(QuestionId),
  candidates: Schema.Array(Schema.Array(Schema.Finite)),
  parent: Schema.NullOr(Schema.Array(Schema.Finite)),
  remaining: Schema.Array(Count)
})

/** Reported units and the sum of their mean rewards since a trial began. */
export const Score = Schema.Struct({ units: Count, sum: Schema.Finite })
export interface Score extends Schema.Schema.Type<typeof Score> {}

/**
 * Where an evolution stands. It waits for a proposal (`Proposing`); for a person (`Approving`, with what was decided on each
 * candidate); or for the rewards of its candidates, asked the same questions as their parent (`Pairing`) or sharing the
 * traffic with the members (`Sharing`).
 */
export const Stage = Schema.Union([
  Schema.TaggedStruct("Proposing", {}),
  Schema.TaggedStruct("Approving", {
    parent: InstructionId,
    candidates: Schema.Array(Proposed),
    reflected: Schema.Array(QuestionId),
    verdicts: Schema.Array(Schema.NullOr(Schema.Boolean))
  }),
  Schema.TaggedStruct("Pairing", {
    parent: InstructionId,
    candidates: Schema.Array(Proposed),
    reflected: Schema.Array(QuestionId),
    round: Round
  }),
  Schema.TaggedStruct("Sharing", {
    parent: InstructionId,
    candidates: Schema.Array(Proposed),
    ids: Schema.Array(InstructionId),
    scores: Schema.Array(Score),
    parentScore: Score
  })
])
export type Stage = typeof Stage.Type

/** An evolution in progress; `step` is the cohort after which it began. */
export const Evolution = Schema.Struct({
  step: Count,
  round: Count,
  parents: Schema.Array(InstructionId),
  verified: Schema.Array(Verified),
  stage: Stage
})
export interface Evolution extends Schema.Schema.Type<typeof Evolution> {}

/** The id that a candidate has while it is asked its parent's questions; `place` counts the candidates of a round from 0. */
export const candidateId = ({ round, step }: Pick<Evolution, "round" | "step">, place: number): InstructionId =>
  InstructionId.make(`candidate-${step}.${round}.${place}`)

/** The id of a candidate while people decide on it. Who is tried is counted anew, so that has another. */
export const proposalId = ({ round, step }: Pick<Evolution, "round" | "step">, place: number): InstructionId =>
  InstructionId.make(`proposal-${step}.${round}.${place}`)

/** Which decision comes next; `Rest`: none before the next cohort is folded. */
export const Phase = Schema.Literals(["Rest", "Score", "Judge", "Refill", "Prune", "ChooseParents", "Conclude"])
export type Phase = typeof Phase.Type

/** A unit of a cohort as it was folded: the rewards of its samples, in [0, 1], and how many samples were not reported. */
export const Unit = Schema.Struct({
  instruction: InstructionId,
  rewards: Schema.Array(Schema.Finite),
  silent: Count,
  stratum: Schema.String,
  question: Schema.NullOr(QuestionId)
})
export interface Unit extends Schema.Schema.Type<typeof Unit> {}

/** The instruction to use outside learning, and why. It may have left the population, unless a person pinned it. */
export const Incumbent = Schema.Struct({
  id: InstructionId,
  content: Content,
  why: Schema.Literals([
    "nothing separates",
    "better than the seed",
    "the seed was pruned as worse",
    "the seed left",
    "pinned"
  ])
})
export interface Incumbent extends Schema.Schema.Type<typeof Incumbent> {}

/**
 * `folded` counts the cohorts in the evidence. `generation` counts the entries into the population, and `pairs` holds, for
 * each of them that living members entered in, how many ordered pairs it made. `born` counts all instructions that ever
 * were members. `trial` holds the units of the last cohort while they are to be scored.
 */
export const Learning = Schema.Struct({
  folded: Count,
  phase: Phase,
  population: Population,
  dossiers: Schema.Record(Schema.String, Dossier),
  seed: InstructionId,
  generation: Count,
  pairs: Schema.Record(Schema.String, Count),
  born: Count,
  guaranteed: Schema.Array(InstructionId),
  evolution: Schema.NullOr(Evolution),
  incumbent: Incumbent,
  trial: Schema.Array(Unit)
})
export interface Learning extends Schema.Schema.Type<typeof Learning> {}

/** The incumbent: the pinned member where there is one, else what the evidence chose. */
export const incumbentOf = ({ dossiers, incumbent }: Pick<Learning, "dossiers" | "incumbent">): Incumbent => {
  const pinned = Object.entries(dossiers).find(([, { isPinned }]) => isPinned)
  return pinned === undefined
    ? incumbent
    : { id: InstructionId.make(pinned[0]), content: pinned[1].content, why: "pinned" }
}

/** The text of a content, as the population knows it: several named ones as JSON. */
export const textOf = (content: Content): string => (typeof content === "string" ? content : JSON.stringify(content))

/** A member that enters, with what it says. */
export const Newcomer = Schema.Struct({ instruction: Instruction, content: Content })
export interface Newcomer extends Schema.Schema.Type<typeof Newcomer> {}

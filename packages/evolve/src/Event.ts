/** What happened in a search or a comparison, in order. The state is a fold of these events; a file of them resumes it. */
import { Instruction, Question } from "@inspo/domain"
import { EvolutionEvent } from "@inspo/evolution"
import { CandidateLint, ModelAnswer } from "@inspo/reflection"
import { Schema } from "effect"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Usd = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** One call of the agent: a prompt, a case by its index, and how often this pair was asked before. */
export const Ask = Schema.Struct({ prompt: Instruction.InstructionId, case: Count, sample: Count })
export interface Ask extends Schema.Schema.Type<typeof Ask> {}

/** A call as the key of a map. */
export const keyOf = ({ case: index, prompt, sample }: Ask): string => `${prompt} ${index} ${sample}`

/** Names a further score of an output. */
export const againKey = (ask: Ask): string => `again ${keyOf(ask)}`

/** The calls of a round are decided. A `test` is on the cases that were held out; `protected` cases are asked again. */
export const RoundPlanned = Schema.TaggedStruct("RoundPlanned", {
  step: Count,
  kind: Schema.Literals(["search", "test", "protected"]),
  asks: Schema.Array(Ask)
})

/** What is paid for: a call of the agent, a score of its output, a request of the proposer. */
export const Kind = Schema.Literals(["agent", "score", "proposer"])
export type Kind = typeof Kind.Type

/** A call begins, and may be paid for from now on. `atMost` is the most that it can cost in US dollars; null if that is not known. */
export const Started = Schema.TaggedStruct("Started", { kind: Kind, key: Schema.String, atMost: Schema.NullOr(Usd) })
export interface Started extends Schema.Schema.Type<typeof Started> {}

/** A call failed for good and is made again later. What it cost is spent; it does not count as a call of the agent. */
export const Failed = Schema.TaggedStruct("Failed", { kind: Kind, key: Schema.String, usd: Usd })

/**
 * An earlier process ended while these calls were in flight. Nobody knows what they cost, so each counts as the most that it can
 * have cost, and those of the agent count against the budget of calls.
 */
export const Interrupted = Schema.TaggedStruct("Interrupted", {
  calls: Schema.Array(Schema.Struct({ kind: Kind, key: Schema.String, usd: Usd })),
  /** The bytes of an event that the crash cut off; absent if there are none. */
  torn: Schema.optionalKey(Count)
})

/** Numbers beside the score, by their name. */
export const Metrics = Schema.Record(Schema.String, Schema.Finite)

/** The agent answered. Written before the output is scored, so that a call is not paid twice; `isWhole` if `output` is all of it. */
export const Obtained = Schema.TaggedStruct("Obtained", {
  ...Ask.fields,
  output: Schema.Json,
  isWhole: Schema.Boolean,
  usd: Usd,
  /** Whether it is the answer of an earlier comparison; absent if it was paid for here. */
  isCached: Schema.optionalKey(Schema.Boolean),
  /** What was measured of the call; absent in a search that needs none. */
  metrics: Schema.optionalKey(Metrics)
})
export interface Obtained extends Schema.Schema.Type<typeof Obtained> {}

const Score = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

/** The output has a score in [0, 1]; `usd` is what scoring cost. */
export const Answered = Schema.TaggedStruct("Answered", {
  ...Ask.fields,
  score: Score,
  feedback: Schema.NullOr(Schema.String),
  usd: Usd,
  /** What was measured of the call, and what came with the score; absent if nothing is. */
  metrics: Schema.optionalKey(Metrics)
})
export interface Answered extends Schema.Schema.Type<typeof Answered> {}

/** A call of the agent or its score failed for good. It counts as spent, and the score is missing. */
export const Missed = Schema.TaggedStruct("Missed", { ...Ask.fields, reason: Schema.String, usd: Usd })
export interface Missed extends Schema.Schema.Type<typeof Missed> {}

/** The budget allows no further call: the calls of the round that were not made are dropped. */
export const RoundCut = Schema.TaggedStruct("RoundCut", {})

/** An output was scored again: scores that vary by themselves are averaged. */
export const Rescored = Schema.TaggedStruct("Rescored", { ...Ask.fields, score: Score, usd: Usd })

/** A language model answered a request of the proposer; `key` names the request, so that it is not paid twice. */
export const Written = Schema.TaggedStruct("Written", { key: Schema.String, answer: ModelAnswer })

/** What the proposer said, and the texts it wrote that break a rule. `failure` says why it could write nothing, or not all. */
export const Proposed = Schema.TaggedStruct("Proposed", {
  parent: Instruction.InstructionId,
  critique: Schema.String,
  rejected: Schema.Array(CandidateLint.Rejection),
  failure: Schema.NullOr(Schema.String)
})

/** A decision of evolution, or its input. */
export const Evolved = Schema.TaggedStruct("Evolved", { event: EvolutionEvent })

/** The search is over: `finalist` is to be compared with the original on the held-out cases; null if the original leads. */
export const SearchEnded = Schema.TaggedStruct("SearchEnded", {
  finalist: Schema.NullOr(Instruction.InstructionId),
  because: Schema.Literals(["no-headroom", "budget", "no-more-proposals"])
})

export const Event = Schema.Union([
  RoundPlanned,
  Started,
  Failed,
  Interrupted,
  Obtained,
  Answered,
  Missed,
  RoundCut,
  Rescored,
  Written,
  Proposed,
  Evolved,
  SearchEnded
])
export type Event = typeof Event.Type
export type EventOf<Tag extends Event["_tag"]> = Extract<Event, { readonly _tag: Tag }>

/** The id of a case, by its index among the distinct cases. */
export const caseId = (index: number): Question.QuestionId => Question.QuestionId.make(`case-${index}`)

/** Trajectories as a paged list, and one of them in full. */
import { Instruction, Question, Trajectory } from "@inspo/domain"
import { FailureMode } from "@inspo/reflection/FailureMode"
import { Schema } from "effect"

/** What a trajectory was rolled out for. */
export const Purpose = Schema.Literals(["train", "verify", "validate", "evaluate"])
export type Purpose = typeof Purpose.Type

/** `right` earned the whole reward, `wrong` none, `partial` something between, `failed` was failed by its environment. */
export const Outcome = Schema.Literals(["right", "partial", "wrong", "failed"])
export type Outcome = typeof Outcome.Type

/** Most trajectories of one page. */
export const pageLimit = 200

export const Order = Schema.Literals(["newest", "oldest", "longest", "calls"])

/** Filters; an absent field does not restrict. `text` is a part of the question. */
export const TrajectoryQuery = Schema.Struct({
  purpose: Schema.optional(Purpose),
  instruction: Schema.optional(Schema.String),
  source: Schema.optional(Schema.String),
  outcome: Schema.optional(Outcome),
  mode: Schema.optional(FailureMode),
  fromStep: Schema.optional(Schema.Int),
  toStep: Schema.optional(Schema.Int),
  text: Schema.optional(Schema.String),
  order: Schema.optional(Order),
  offset: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  limit: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: pageLimit })))
})
export interface TrajectoryQuery extends Schema.Schema.Type<typeof TrajectoryQuery> {}

/** What the events tell of a trajectory. */
export const TrajectoryRow = Schema.Struct({
  id: Trajectory.TrajectoryId,
  purpose: Purpose,
  step: Schema.Int,
  /** Null for a trajectory that failed, whose group is not known. */
  instruction: Schema.NullOr(Instruction.InstructionId),
  question: Schema.NullOr(Question.QuestionId),
  source: Schema.NullOr(Schema.String),
  reward: Schema.Finite,
  outcome: Outcome,
  /** Null where the events do not tell: in verification, and where its environment failed it. */
  toolCalls: Schema.NullOr(Schema.Int),
  responseTokens: Schema.NullOr(Schema.Int)
})
export interface TrajectoryRow extends Schema.Schema.Type<typeof TrajectoryRow> {}

/** A row of a page, with its texts clipped and what its transcript shows; `modes` is null until it was read. */
export const TrajectoryLine = Schema.Struct({
  ...TrajectoryRow.fields,
  text: Schema.NullOr(Schema.String),
  answer: Schema.NullOr(Schema.String),
  modes: Schema.NullOr(Schema.Array(FailureMode))
})
export interface TrajectoryLine extends Schema.Schema.Type<typeof TrajectoryLine> {}

/** `sources` and `instructions` are those that a filter can name. */
export const TrajectoryPage = Schema.Struct({
  total: Schema.Int,
  all: Schema.Int,
  offset: Schema.Int,
  rows: Schema.Array(TrajectoryLine),
  sources: Schema.Array(Schema.String),
  instructions: Schema.Array(Instruction.InstructionId),
  /** How many wrong trajectories were read for their failure modes, and of how many. */
  diagnosed: Schema.Struct({ done: Schema.Int, of: Schema.Int }),
  /** Among the matching wrong trajectories that were read, how many show each mode. */
  modes: Schema.Array(Schema.Struct({ mode: FailureMode, count: Schema.Int }))
})
export interface TrajectoryPage extends Schema.Schema.Type<typeof TrajectoryPage> {}

export const TrajectoryView = Schema.Struct({
  ...Trajectory.TrajectorySummary.fields,
  purpose: Schema.String,
  step: Schema.Int,
  source: Schema.NullOr(Schema.String),
  text: Schema.NullOr(Schema.String),
  goldenAnswers: Schema.Array(Schema.String),
  instruction: Schema.NullOr(Schema.String),
  transcript: Schema.Array(Trajectory.Turn),
  failure: Schema.NullOr(Schema.String),
  modes: Schema.Array(FailureMode)
})
export interface TrajectoryView extends Schema.Schema.Type<typeof TrajectoryView> {}

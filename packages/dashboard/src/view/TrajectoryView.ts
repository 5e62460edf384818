/** Trajectories as a paged list, and one of them in full. */
import { Instruction, Question, Trajectory } from "@inspo/domain"
import { FailureMode } from "@inspo/reflection"
import { Schema } from "effect"
import { Names } from "./OverviewView.ts"

export const Purpose = Schema.Literals(["train", "verify", "validate", "evaluate"])
export type Purpose = typeof Purpose.Type

/** `right` has the full reward, `wrong` none, `partial` something between; `failed` failed in the environment. */
export const Outcome = Schema.Literals(["right", "partial", "wrong", "failed"])
export type Outcome = typeof Outcome.Type

/** The most trajectories of one page. */
export const pageLimit = 200

export const Order = Schema.Literals(["newest", "oldest", "longest", "calls"])

/** Filters; an absent field does not restrict. `text` is a part of the question. */
export const TrajectoryQuery = Schema.Struct({
  purpose: Schema.optional(Purpose),
  instruction: Schema.optional(Schema.String),
  source: Schema.optional(Schema.String),
  outcome: Schema.optional(Outcome),
  mode: Schema.optional(FailureMode.FailureMode),
  fromStep: Schema.optional(Schema.Int),
  toStep: Schema.optional(Schema.Int),
  text: Schema.optional(Schema.String),
  order: Schema.optional(Order),
  offset: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  limit: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: pageLimit })))
})
export interface TrajectoryQuery extends Schema.Schema.Type<typeof TrajectoryQuery> {}

/** A trajectory as recorded in the events. */
export const TrajectoryRow = Schema.Struct({
  id: Trajectory.TrajectoryId,
  purpose: Purpose,
  step: Schema.Int,
  /** Null for a failed trajectory, whose group is not known. */
  instruction: Schema.NullOr(Instruction.InstructionId),
  question: Schema.NullOr(Question.QuestionId),
  source: Schema.NullOr(Schema.String),
  reward: Schema.Finite,
  outcome: Outcome,
  /** Null if the events do not have it: in verification, and for failed trajectories. */
  toolCalls: Schema.NullOr(Schema.Int),
  responseTokens: Schema.NullOr(Schema.Int)
})
export interface TrajectoryRow extends Schema.Schema.Type<typeof TrajectoryRow> {}

/** A row of a page, with shortened texts and data of its transcript; `modes` is null before the transcript is read. */
export const TrajectoryLine = Schema.Struct({
  ...TrajectoryRow.fields,
  text: Schema.NullOr(Schema.String),
  answer: Schema.NullOr(Schema.String),
  modes: Schema.NullOr(Schema.Array(FailureMode.FailureMode))
})
export interface TrajectoryLine extends Schema.Schema.Type<typeof TrajectoryLine> {}

/** `sources` and `instructions` are the possible values of those filters. */
export const TrajectoryPage = Schema.Struct({
  total: Schema.Int,
  all: Schema.Int,
  offset: Schema.Int,
  rows: Schema.Array(TrajectoryLine),
  sources: Schema.Array(Schema.String),
  instructions: Schema.Array(Instruction.InstructionId),
  names: Names,
  /** The number of wrong trajectories whose failure modes are known, and of all wrong ones. */
  diagnosed: Schema.Struct({ done: Schema.Int, of: Schema.Int }),
  /** The number of matching trajectories with each failure mode. */
  modes: Schema.Array(Schema.Struct({ mode: FailureMode.FailureMode, count: Schema.Int }))
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
  modes: Schema.Array(FailureMode.FailureMode)
})
export interface TrajectoryView extends Schema.Schema.Type<typeof TrajectoryView> {}

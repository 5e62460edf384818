/** The progress and the results of a run: the curves of the paper's Figure 2 and the final table. */
import { Instruction } from "@inspo/domain"
import { Interval } from "@inspo/statistics"
import type { Cells } from "@inspo/report"
import { Schema } from "effect"
import { RunView } from "./RunView.ts"

/** A mean over questions, in [0, 1], with its 95 % interval. */
export const Share = Schema.Struct({ n: Schema.Int, mean: Schema.Finite, ci95: Interval.Interval })
export interface Share extends Schema.Schema.Type<typeof Share> {}

/** A decision, drawn over the curves. */
export const Mark = Schema.Struct({
  step: Schema.Int,
  kind: Schema.Literals(["prune", "evolve", "skip"]),
  text: Schema.String
})
export interface Mark extends Schema.Schema.Type<typeof Mark> {}

/** One evaluation on the validation questions. */
export const ValidationView = Schema.Struct({ ...Share.fields, step: Schema.Int })

/** One cell of the final table. */
export const CellView = Schema.Struct({
  ...Share.fields,
  policy: Schema.Literals(["before", "after"]),
  role: Schema.Literals(["seed", "best"]),
  instruction: Instruction.InstructionId,
  toolCalls: Schema.Finite,
  sources: Schema.Record(Schema.String, Share)
})
export interface CellView extends Schema.Schema.Type<typeof CellView> {}

export const cellOf = (
  cells: ReadonlyArray<CellView>,
  policy: CellView["policy"],
  role: CellView["role"]
): CellView | undefined => cells.find((cell) => cell.policy === policy && cell.role === role)

/** The cell after training with the best instruction, which may be the seed. */
export const lastCell = (cells: ReadonlyArray<CellView>): CellView | undefined =>
  cellOf(cells, "after", "best") ?? cellOf(cells, "after", "seed")

/** The cells whose differences are the gains of training and of the best instruction. */
export const finalCells = (cells: ReadonlyArray<CellView>): Cells<CellView> => ({
  before: cellOf(cells, "before", "seed"),
  after: cellOf(cells, "after", "seed"),
  best: cellOf(cells, "after", "best")
})

/** The names of instructions by id: what distinguishes each from its parent. */
export const Names = Schema.Record(Schema.String, Schema.String)
export type Names = typeof Names.Type

/** The static-instruction arm at the same budget. */
export const BaselineView = Schema.Struct({ em: Schema.Finite, ci95: Interval.Interval, rollouts: Schema.Int })
export interface BaselineView extends Schema.Schema.Type<typeof BaselineView> {}

export const InstructionView = Schema.Struct({
  id: Instruction.InstructionId,
  text: Schema.String,
  generation: Schema.Int,
  value: Schema.NullOr(Schema.Finite)
})
export interface InstructionView extends Schema.Schema.Type<typeof InstructionView> {}

/**
 * The answers behind the training rewards: `measure` is the name of the reward, `answers` the number of answers by data source,
 * `perStep` their mean number per step, and `first` and `last` the mean rewards of the first and the last `movingSteps` steps.
 */
export const TrainedView = Schema.Struct({
  measure: Schema.String,
  answers: Schema.Record(Schema.String, Schema.Int),
  perStep: Schema.Finite,
  first: Schema.NullOr(Schema.Finite),
  last: Schema.NullOr(Schema.Finite)
})
export interface TrainedView extends Schema.Schema.Type<typeof TrainedView> {}

/** `metrics` are the names of the metrics of the `steps`, without those of single instructions. */
export const OverviewView = Schema.Struct({
  run: RunView,
  settings: Schema.Record(Schema.String, Schema.String),
  steps: Schema.Array(Schema.Int),
  metrics: Schema.Array(Schema.String),
  trained: TrainedView,
  marks: Schema.Array(Mark),
  validations: Schema.Array(ValidationView),
  cells: Schema.Array(CellView),
  baseline: Schema.NullOr(BaselineView),
  names: Names,
  seed: Schema.NullOr(InstructionView),
  best: Schema.NullOr(InstructionView),
  /** Failures that did not end the run, a line for each part. */
  degraded: Schema.Array(Schema.String),
  wallSeconds: Schema.NullOr(Schema.Finite)
})
export interface OverviewView extends Schema.Schema.Type<typeof OverviewView> {}

/** Runs side by side. */
import { Interval } from "@inspo/statistics"
import { Schema } from "effect"
import { BaselineView, CellView } from "./OverviewView.ts"
import { RunView } from "./RunView.ts"

export const ComparedRunView = Schema.Struct({
  run: RunView,
  cells: Schema.Array(CellView),
  baseline: Schema.NullOr(BaselineView),
  /** Its mean reward minus that of the first run, paired by question; null for the first run, and if the questions differ. */
  difference: Schema.NullOr(Interval.MeanDifference),
  best: Schema.NullOr(Schema.String)
})
export interface ComparedRunView extends Schema.Schema.Type<typeof ComparedRunView> {}

/** `settings` are those that differ; `values` is parallel to `runs`, null if a run does not have the setting. */
export const ComparisonView = Schema.Struct({
  runs: Schema.Array(ComparedRunView),
  settings: Schema.Array(Schema.Struct({ name: Schema.String, values: Schema.Array(Schema.NullOr(Schema.String)) }))
})
export interface ComparisonView extends Schema.Schema.Type<typeof ComparisonView> {}

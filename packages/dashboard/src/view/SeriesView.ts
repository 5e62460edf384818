/** Metrics over the steps of runs, or of groups of runs that differ in their random seed alone. */
import { Interval } from "@inspo/statistics"
import { Schema } from "effect"
import { RunId } from "./RunView.ts"

/** What a horizontal axis counts: steps; rollouts or tokens of training and verification; or seconds of work over all sessions. */
export const XAxis = Schema.Literals(["step", "rollouts", "tokens", "time"])
export type XAxis = typeof XAxis.Type

/**
 * One run, or the mean of a group: `id` is the run, or any run of the group, and `runs` their number. `x[i]`, `values[name][i]` and
 * `bands[name][i]` are at `steps[i]`; null if the step has none. A metric has a band if it has 95 % intervals.
 */
export const Series = Schema.Struct({
  id: RunId,
  runs: Schema.Int,
  steps: Schema.Array(Schema.Int),
  x: Schema.Array(Schema.NullOr(Schema.Finite)),
  values: Schema.Record(Schema.String, Schema.Array(Schema.NullOr(Schema.Finite))),
  bands: Schema.Record(Schema.String, Schema.Array(Schema.NullOr(Interval.Interval)))
})
export interface Series extends Schema.Schema.Type<typeof Series> {}

/** `metrics` are all that any of the runs recorded, also those that were not asked for. */
export const SeriesView = Schema.Struct({
  x: XAxis,
  metrics: Schema.Array(Schema.String),
  series: Schema.Array(Series)
})
export interface SeriesView extends Schema.Schema.Type<typeof SeriesView> {}

/**
 * `runs` are ids, and `metrics` names, separated by commas. With `smooth`, each run is replaced by its group of seeds among the runs
 * that the list shows with this `filter` and with or without those `nested` in others, and groups have moving means of so many steps.
 */
export const SeriesQuery = Schema.Struct({
  runs: Schema.String,
  metrics: Schema.String,
  x: XAxis,
  smooth: Schema.optionalKey(
    Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 1000 }))
  ),
  filter: Schema.optionalKey(Schema.String),
  nested: Schema.optionalKey(Schema.Literal("shown"))
})
export interface SeriesQuery extends Schema.Schema.Type<typeof SeriesQuery> {}

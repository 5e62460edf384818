/** The settings of all runs, for the list. */
import { Schema } from "effect"
import { RunId } from "./RunView.ts"

export const SettingsView = Schema.Struct({
  /** The runs that could be read, in the order of the values below. */
  runs: Schema.Array(RunId),
  /** The settings that differ between runs, with the value of each run; null where a run does not have one. */
  settings: Schema.Array(Schema.Struct({ name: Schema.String, values: Schema.Array(Schema.NullOr(Schema.String)) })),
  /** The preset that each run differs least from. */
  presets: Schema.Array(Schema.String),
  /** The group of each run: the algorithms of one group differ in their random seed alone. */
  groups: Schema.Array(Schema.Int),
  /** The quantiles of 95 % t-intervals for 1, 2, … degrees of freedom, as many as the largest group needs. */
  quantiles: Schema.Array(Schema.Finite)
})
export interface SettingsView extends Schema.Schema.Type<typeof SettingsView> {}

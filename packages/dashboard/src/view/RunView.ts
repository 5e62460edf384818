/** A run, for lists and headers. */
import { Schema } from "effect"

/**
 * The status of a run: `waiting` has no step yet, `running` was active within the last minutes, `quiet` was not and is not
 * finished (stopped, or in a long step), `unreadable` has a config or a journal that cannot be read.
 */
export const RunStatus = Schema.Literals(["loading", "waiting", "running", "quiet", "finished", "unreadable"])
export type RunStatus = typeof RunStatus.Type

/** A run is `running` while it gave a sign of life within this time, in milliseconds. */
export const quietAfter = 180_000

/** The id of a run in addresses: its name, with invalid characters replaced. */
export const RunId = Schema.NonEmptyString
export type RunId = typeof RunId.Type

export const RunView = Schema.Struct({
  id: RunId,
  name: Schema.String,
  status: RunStatus,
  /** Why the run is `unreadable`; else null. */
  problem: Schema.NullOr(Schema.String),
  /** The number of events; grows with every change. */
  sequence: Schema.Int,
  seed: Schema.NullOr(Schema.Int),
  step: Schema.Int,
  steps: Schema.NullOr(Schema.Int),
  /** The number of instructions in the population, and of all instructions. */
  alive: Schema.Int,
  born: Schema.Int,
  /** Whether something failed without ending the run. */
  degraded: Schema.Boolean,
  /** The mean training reward of the last step, in [0, 1]. */
  reward: Schema.NullOr(Schema.Finite),
  /** Mean training reward by step, thinned to at most 60 points with three decimals. */
  course: Schema.Array(Schema.Finite),
  /** The name of the reward; null if the run cannot be read. */
  measure: Schema.NullOr(Schema.String),
  /** The mean reward on the test questions after training, with the best instruction. */
  tested: Schema.NullOr(Schema.Finite),
  rollouts: Schema.Int,
  tokens: Schema.Int,
  /** The time of the last event, in milliseconds since 1970; null if it is not known. */
  lastWritten: Schema.NullOr(Schema.Finite),
  /** Changes with each write, including reports; null if it is not known. */
  version: Schema.NullOr(Schema.String)
})
export interface RunView extends Schema.Schema.Type<typeof RunView> {}

/** When each instruction was in the population, with its values and probabilities. */
import { Instruction } from "@inspo/domain"
import { Schema } from "effect"
import { Mark, Names } from "./OverviewView.ts"

export const Fate = Schema.Literals(["alive", "pruned", "replaced", "rejected", "malformed"])
export type Fate = typeof Fate.Type

/** `values[k]` and `probabilities[k]` are those of the step at position `from + k`. */
export const LifeView = Schema.Struct({
  id: Instruction.InstructionId,
  text: Schema.String,
  generation: Schema.Int,
  bornAt: Schema.Int,
  leftAt: Schema.NullOr(Schema.Int),
  fate: Fate,
  reason: Schema.NullOr(Schema.String),
  from: Schema.Int,
  values: Schema.Array(Schema.NullOr(Schema.Finite)),
  probabilities: Schema.Array(Schema.NullOr(Schema.Finite)),
  /** P(best) by the comparison within questions; null once it has left. */
  chance: Schema.NullOr(Schema.Finite),
  /** How much better than the seed it is within the same questions, with a 95 % interval; null for the seed, or if one has left. */
  difference: Schema.NullOr(Schema.Struct({ mean: Schema.Finite, lower: Schema.Finite, upper: Schema.Finite })),
  /** The number of its training groups. */
  groups: Schema.Int,
  /** The mean reward of those groups; null before the first. */
  mean: Schema.NullOr(Schema.Finite)
})
export interface LifeView extends Schema.Schema.Type<typeof LifeView> {}

export const PopulationView = Schema.Struct({
  steps: Schema.Array(Schema.Int),
  lives: Schema.Array(LifeView),
  names: Names,
  /** What the comparison says about the best instruction and the seed. */
  verdict: Schema.String,
  marks: Schema.Array(Mark)
})
export interface PopulationView extends Schema.Schema.Type<typeof PopulationView> {}

/** When each instruction was in the population, with its values and probabilities. */
import { Instruction } from "@inspo/domain"
import { Schema } from "effect"
import { Mark } from "./OverviewView.ts"

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
  /** The number of its training groups. */
  groups: Schema.Int,
  /** The mean reward of those groups; null before the first. */
  mean: Schema.NullOr(Schema.Finite)
})
export interface LifeView extends Schema.Schema.Type<typeof LifeView> {}

export const PopulationView = Schema.Struct({
  steps: Schema.Array(Schema.Int),
  lives: Schema.Array(LifeView),
  marks: Schema.Array(Mark)
})
export interface PopulationView extends Schema.Schema.Type<typeof PopulationView> {}

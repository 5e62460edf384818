/** What a removal and an admission decide, as schemas. */
import { Schema } from "effect"
import { Instruction } from "@inspo/domain"

/**
 * Why an instruction was removed.
 *
 * - `bottom-half`: it ranked in the bottom half
 * - `worse`: it is certainly not the best of its population
 * - `forced`: it made room for newcomers, whatever the evidence
 */
export const PruneReason = Schema.Literals(["bottom-half", "worse", "forced"])
export type PruneReason = typeof PruneReason.Type

/**
 * A removed instruction, with the value it was ranked by. `certainty`, in [0, 1], is one minus the p-value of "it is the best
 * of the population"; absent if the rule computes none.
 */
export const Pruned = Schema.Struct({
  id: Instruction.InstructionId,
  value: Schema.Finite,
  reason: PruneReason,
  certainty: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))
})
export interface Pruned extends Schema.Schema.Type<typeof Pruned> {}

/**
 * The outcome of a pruning: `kept` best first, `pruned` worst first, and which of the kept were `spared`: the rule would
 * have pruned them, but they are protected, or as many members are to stay.
 */
export const Pruning = Schema.Struct({
  kept: Schema.Array(Instruction.InstructionId),
  pruned: Schema.Array(Pruned),
  spared: Schema.Array(Instruction.InstructionId)
})
export interface Pruning extends Schema.Schema.Type<typeof Pruning> {}

/** The newcomers of an evolution, for so many places. */
export const Entrants = Schema.Struct({
  places: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  ids: Schema.Array(Instruction.InstructionId)
})
export interface Entrants extends Schema.Schema.Type<typeof Entrants> {}

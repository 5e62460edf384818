/** The functions of `Halving`, the schemas of what they compute, and the service of a rule of removal. */
import { Context, Layer, Schema } from "effect"
import { Instruction } from "@inspo/domain"
import * as EvidencePruning from "./EvidencePruning.ts"
import type * as Halving from "./Halving.ts"

export * from "./Halving.ts"

/** Who leaves a population, and who are parents. */
export class Removal extends Context.Service<Removal, Halving.Interface>()("@inspo/successive-halving/Removal") {}

/** Provides a rule; by default {@link EvidencePruning} at a risk of 5 %. */
export const layer = (rule: Halving.Interface = EvidencePruning.removal()): Layer.Layer<Removal> =>
  Layer.succeed(Removal, rule)

/** The schema of {@link Halving.PruneReason}. */
export const PruneReason = Schema.Literals(["bottom-half", "worse", "forced"])
export type PruneReason = Halving.PruneReason

/** The schema of {@link Halving.Pruned}. */
export const Pruned = Schema.Struct({
  id: Instruction.InstructionId,
  value: Schema.Finite,
  reason: PruneReason,
  certainty: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))
})
export type Pruned = Halving.Pruned

/** The schema of {@link Halving.Pruning}. */
export const Pruning = Schema.Struct({
  kept: Schema.Array(Instruction.InstructionId),
  pruned: Schema.Array(Pruned),
  spared: Schema.Array(Instruction.InstructionId)
})
export type Pruning = Halving.Pruning

/** The functions of `Halving`, the schemas of what they compute, and the service of a pruning rule. */
import { Context, Layer, Schema } from "effect"
import { InstructionId } from "@inspo/domain/Instruction"
import * as EvidencePruning from "./EvidencePruning.ts"
import type * as Halving from "./Halving.ts"

export * from "./Halving.ts"

/** The pruning rule of a run. */
export class SuccessiveHalving extends Context.Service<SuccessiveHalving, Halving.Strategy>()(
  "@inspo/successive-halving/SuccessiveHalving"
) {}

/** Provides a rule; by default {@link EvidencePruning} at a risk of 5 %. */
export const layer = (rule: Halving.Strategy = EvidencePruning.make()): Layer.Layer<SuccessiveHalving> =>
  Layer.succeed(SuccessiveHalving, rule)

/** The schema of {@link Halving.PruneReason}. */
export const PruneReason = Schema.Literals(["bottom-half", "worse", "forced"])
export type PruneReason = Halving.PruneReason

/** The schema of {@link Halving.Pruned}. */
export const Pruned = Schema.Struct({
  id: InstructionId,
  value: Schema.Finite,
  reason: PruneReason,
  certainty: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))
})
export type Pruned = Halving.Pruned

/** The schema of {@link Halving.Pruning}. */
export const Pruning = Schema.Struct({
  kept: Schema.Array(InstructionId),
  pruned: Schema.Array(Pruned),
  spared: Schema.Array(InstructionId)
})
export type Pruning = Halving.Pruning

/** The schema of {@link Halving.Entrants}. */
export const Entrants = Schema.Struct({
  places: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  ids: Schema.Array(InstructionId)
})
export type Entrants = Halving.Entrants

/** The functions of `Halving`, and the service of a rule of removal. */
import { Context, Layer } from "effect"
import * as EvidencePruning from "./EvidencePruning.ts"
import type * as Halving from "./Halving.ts"

export { Pruned, PruneReason, Pruning } from "./Decisions.ts"
export * from "./Halving.ts"

/** Who leaves a population, and who are parents. */
export class Removal extends Context.Service<Removal, Halving.Interface>()("@inspo/successive-halving/Removal") {}

/** Provides a rule; by default {@link EvidencePruning} at a risk of 5 %. */
export const layer = (rule: Halving.Interface = EvidencePruning.removal()): Layer.Layer<Removal> =>
  Layer.succeed(Removal, rule)

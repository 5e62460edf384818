/** The functions of `Replacement`, and the service of a rule of admission. */
import { Context, Layer } from "effect"
import * as EvidencePruning from "./EvidencePruning.ts"
import type * as Replacement from "./Replacement.ts"

export { Entrants } from "./Decisions.ts"
export * from "./Replacement.ts"

/** How newcomers get their places in a population. */
export class Admission extends Context.Service<Admission, Replacement.Interface>()(
  "@inspo/successive-halving/Admission"
) {}

/** Provides a rule; by default {@link EvidencePruning} at a risk of 5 %. */
export const layer = (rule: Replacement.Interface = EvidencePruning.admission()): Layer.Layer<Admission> =>
  Layer.succeed(Admission, rule)

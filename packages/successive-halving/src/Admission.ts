/** The functions of `Replacement`, the schema of newcomers, and the service of a rule of admission. */
import { Context, Layer, Schema } from "effect"
import { Instruction } from "@inspo/domain"
import * as EvidencePruning from "./EvidencePruning.ts"
import type * as Replacement from "./Replacement.ts"

export * from "./Replacement.ts"

/** How newcomers get their places in a population. */
export class Admission extends Context.Service<Admission, Replacement.Interface>()(
  "@inspo/successive-halving/Admission"
) {}

/** Provides a rule; by default {@link EvidencePruning} at a risk of 5 %. */
export const layer = (rule: Replacement.Interface = EvidencePruning.admission()): Layer.Layer<Admission> =>
  Layer.succeed(Admission, rule)

/** The schema of {@link Replacement.Entrants}. */
export const Entrants = Schema.Struct({
  places: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  ids: Schema.Array(Instruction.InstructionId)
})
export type Entrants = Replacement.Entrants

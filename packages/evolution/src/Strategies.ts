/** The rules of evolution. */
import type { InstructionValue } from "@inspo/population"
import type { Admission, Removal } from "@inspo/successive-halving"
import type { Verification } from "@inspo/verification"

/** Pure functions behind the services of the same names. `decide` asks them, `apply` does not. */
export interface Strategies {
  readonly valuation: Pick<InstructionValue.Interface, "values">
  readonly removal: Pick<Removal.Interface, "prune" | "parents">
  readonly admission: Pick<Admission.Interface, "bounds" | "replaced">
  readonly verification: Pick<Verification.Interface, "judge" | "needsRound" | "refill">
}

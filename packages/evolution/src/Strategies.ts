/** The rules of evolution. */
import type { InstructionValue } from "@inspo/population"
import type { SuccessiveHalving } from "@inspo/successive-halving"
import type { Verification } from "@inspo/verification"

/** Pure functions behind the services of the same names. `decide` asks them, `apply` does not. */
export interface Strategies {
  readonly valuation: Pick<InstructionValue.Strategy, "values">
  readonly halving: Pick<SuccessiveHalving.Strategy, "prune" | "parents" | "kept" | "newcomers" | "replaced">
  readonly verification: Pick<Verification.Strategy, "judge" | "needsRound" | "refill">
}

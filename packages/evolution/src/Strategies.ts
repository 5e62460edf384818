/** The rules of evolution: values of pure functions, behind the services of the same names. */
import { Population } from "@inspo/population"
import { Admission, Removal } from "@inspo/successive-halving"
import { Verification } from "@inspo/verification"
import { Effect, Option } from "effect"

/** `decide` asks the rules; a fold of events asks the valuation to observe, and nothing else. */
export interface Strategies {
  readonly valuation: Population.Interface
  readonly removal: Removal.Interface
  readonly admission: Admission.Interface
  readonly verification: Verification.Interface
}

/** Puts each strategy that the context provides in the place of the one that settings name. */
export const fromContext: Effect.Effect<(named: Strategies) => Strategies> = Effect.gen(function* () {
  const valuation = yield* Effect.serviceOption(Population.Population)
  const removal = yield* Effect.serviceOption(Removal.Removal)
  const admission = yield* Effect.serviceOption(Admission.Admission)
  const verification = yield* Effect.serviceOption(Verification.Verification)
  return (named) => ({
    valuation: Option.getOrElse(valuation, () => named.valuation),
    removal: Option.getOrElse(removal, () => named.removal),
    admission: Option.getOrElse(admission, () => named.admission),
    verification: Option.getOrElse(verification, () => named.verification)
  })
})

import { Moments } from "@inspo/statistics"
import { meanOfTokens, perToken, surrogate } from "../Surrogate.ts"

/**
 * SAPO: a gate that falls smoothly with the distance of the ratio from 1 takes the place of the clip. It is steeper for
 * negative advantages. No token's gradient is exactly 0, and it goes to 0 as the ratio grows.
 */
export const sapo = surrogate({
  name: "sapo",
  description: "lets a smooth gate take the place of the clip",
  formula: "g = 4σ(1 − σ) · ρA, σ = σ(τ(ρ − 1)), τ by the sign of A",
  source: "SAPO, arXiv 2511.20347",
  certainty: "code",
  verl: "sapo",
  trl: "sapo",
  defaults: { positive: 1, negative: 1.05 },
  gradient: perToken(({ advantage, ratio }, { negative, positive }) => {
    const gate = Moments.logistic((advantage > 0 ? positive : negative) * (ratio - 1))
    return 4 * gate * (1 - gate) * ratio * advantage
  }),
  written: meanOfTokens(({ advantage, ratio }, { negative, positive }) => {
    const tau = advantage > 0 ? positive : negative
    return (4 / tau) * Moments.logistic(tau * (ratio - 1)) * advantage
  })
})

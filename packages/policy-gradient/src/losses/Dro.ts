import { meanOfTokens, perToken, surrogate } from "../Surrogate.ts"

/** DRO, and the loss of Kimi k1.5: the log-likelihood, with a square penalty for the distance from sampling. `tau` 0 is REINFORCE. */
export const dro = surrogate({
  name: "dro",
  description: "adds a square penalty for the change of each token's log-probability",
  formula: "g = A − τ · log ρ",
  source: "DRO; Kimi k1.5",
  certainty: "code",
  verl: "dro",
  defaults: { tau: 0.1 },
  gradient: perToken(({ advantage, logprob, old }, { tau }) => advantage - tau * (logprob - old)),
  written: meanOfTokens(
    ({ advantage, logprob, old }, { tau }) => advantage * logprob - (tau / 2) * (logprob - old) ** 2
  )
})

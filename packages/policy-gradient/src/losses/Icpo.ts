import { meanOfTokens, perToken, surrogate } from "../Surrogate.ts"

/**
 * ICPO's loss of rollouts that were sampled after a worked example and are trained without it. Their ratio is unknown, so the
 * probability itself is shaped: tokens that the policy finds improbable teach most. |g| ≤ |A| / 4, largest at π = γ.
 */
export const icpo = surrogate({
  name: "icpo",
  description: "trains rollouts of demonstrations by their own probability, the improbable tokens most",
  formula: "g = γπ / (π + γ)² · A",
  source: "ICPO, arXiv 2510.26519",
  certainty: "code",
  needs: "rollouts that are trained under another prompt than they were sampled with",
  defaults: { gamma: 0.1 },
  gradient: perToken(({ advantage, logprob }, { gamma }) => {
    const probability = Math.exp(logprob)
    return ((gamma * probability) / (probability + gamma) ** 2) * advantage
  }),
  written: meanOfTokens(({ advantage, logprob }, { gamma }) => {
    const probability = Math.exp(logprob)
    return (probability / (probability + gamma)) * advantage
  })
})

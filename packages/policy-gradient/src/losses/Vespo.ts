import { sumAll } from "effect/Number"
import { logRatios, meanOfTokens, surrogate } from "../Surrogate.ts"

/**
 * VESPO: a smooth weight of the whole sequence by the product of its ratios, 1 where that is 1, and 0 far from it on either
 * side. It is largest at w = k / λ, and takes no gradient.
 */
export const vespo = surrogate({
  name: "vespo",
  description: "weighs a sequence smoothly by the product of its ratios",
  formula: "g = wᵏ · exp(λ(1 − w)) · A, w = Π ρ, k and λ by the sign of A",
  source: "VESPO (TRL)",
  certainty: "code",
  trl: "vespo",
  defaults: { positiveK: 2, positiveLambda: 3, negativeK: 3, negativeLambda: 2 },
  gradient: (sequence, constants) => {
    const log = sumAll(logRatios(sequence))
    return sequence.advantages.map((advantage) => factor(log, advantage, constants) * advantage)
  },
  written: (sequence, constants, held) => {
    const log = sumAll(logRatios(held))
    return meanOfTokens(({ advantage, logprob }) => factor(log, advantage, constants) * advantage * logprob)(
      sequence,
      constants,
      held
    )
  }
})

/** The weight of a sequence by the logarithm of its ratio. */
const factor = (
  log: number,
  advantage: number,
  constants: Readonly<Record<"negativeK" | "negativeLambda" | "positiveK" | "positiveLambda", number>>
): number => {
  const [k, lambda] =
    advantage >= 0 ? [constants.positiveK, constants.positiveLambda] : [constants.negativeK, constants.negativeLambda]
  return Math.exp(k * log + lambda * (1 - Math.exp(log)))
}

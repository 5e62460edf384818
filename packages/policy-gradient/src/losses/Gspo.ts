import { Moments } from "@inspo/statistics"
import { clippedObjective, clippedWeight, logRatios, meanOfTokens, type Sequence, surrogate } from "../Surrogate.ts"

/**
 * GSPO: the ratio of a sequence is the geometric mean of those of its tokens, and the sequence is clipped as a whole. All its
 * tokens have it, whatever their order; a sequence of one token is `clip`.
 */
export const gspo = surrogate({
  name: "gspo",
  description: "clips the geometric mean ratio of the sequence",
  formula: "g = sA, clipped by s; s = exp(mean log ρ)",
  source: "GSPO, arXiv 2507.18071",
  certainty: "code",
  verl: "gspo",
  trl: "importance_sampling_level: sequence",
  ofSequences: true,
  defaults: { low: 3e-4, high: 4e-4 },
  gradient: (sequence, bounds) => {
    const ratio = ratioOf(sequence)
    return sequence.advantages.map((advantage) => clippedWeight(ratio, advantage, bounds))
  },
  written: (sequence, bounds, held) => {
    const ratio = ratioOf(held)
    return meanOfTokens(({ advantage, logprob }, _, before) =>
      clippedObjective(ratio * Math.exp(logprob - before.logprob), advantage, bounds)
    )(sequence, bounds, held)
  }
})

/** The geometric mean of the ratios of a sequence. */
export const ratioOf = (sequence: Sequence): number => Math.exp(Moments.mean(logRatios(sequence)))

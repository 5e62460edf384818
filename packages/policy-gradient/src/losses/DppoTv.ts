import { weighing } from "../Surrogate.ts"

/**
 * DPPO by total variation: a token loses its gradient where its probability, not its ratio, has moved too far in the direction
 * of its advantage. So rare tokens may move by large ratios. The ratio is a weight of at most `cap` that takes no gradient.
 */
export const dppoTv = weighing({
  name: "dppo-tv",
  description: "masks tokens whose probability moved too far, as in DPPO",
  formula: "g = min(ρ, cap) · A; 0 if A > 0 and π − π_old > δ, or A < 0 and π − π_old < −δ",
  source: "DPPO, arXiv 2602.04879",
  certainty: "code",
  verl: "dppo_tv",
  defaults: { delta: 0.2, cap: 20 },
  factor: ({ advantage, logprob, old, ratio }, { cap, delta }) => {
    const moved = Math.exp(logprob) - Math.exp(old)
    return (advantage > 0 ? moved > delta : moved < -delta) ? 0 : Math.min(ratio, cap)
  }
})

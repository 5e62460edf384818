import { byToken, bySequence, correction, within } from "../Correction.ts"

/** IcePop: tokens whose ratio is out of bounds are left out, the others count by it. Wider bounds keep more tokens. */
export const maskTokens = correction({
  name: "mask-tokens",
  description: "leaves out tokens whose ratio is out of bounds, as IcePop does",
  formula: "ρ′ within [low, high], else 0",
  source: "IcePop (verl)",
  certainty: "code",
  verl: "rollout_is: token with bounds 0.5_5.0",
  trl: "token_mask",
  defaults: { low: 0.5, high: 5 },
  compute: byToken(within)
})

/** The same of sequences, by the product of their ratios. */
export const maskSequence = correction({
  name: "mask-sequence",
  description:
    "leaves out rollouts whose product of ratios exceeds 3, or segments of agents that rewrite their context",
  formula: "Π ρ′ within [low, high], else 0",
  source: "MIS (TRL)",
  certainty: "code",
  trl: "sequence_mask",
  defaults: { low: 0, high: 3 },
  compute: bySequence(within)
})

import { byToken, bySequence, correction } from "../Correction.ts"

/** Truncated importance sampling of tokens: ratios of at most the bound. Biased by what tokens before did, with little variance. */
export const truncateTokens = correction({
  name: "truncate-tokens",
  description: "weighs each token by its ratio of at most 2",
  formula: "min(ρ′, C)",
  source: "TIS (verl, TRL)",
  certainty: "code",
  verl: "rollout_is: token",
  trl: "token_truncate",
  defaults: { bound: 2 },
  compute: byToken((ratio, { bound }) => Math.min(ratio, bound))
})

/** The same of sequences: without a bound, exact importance sampling. */
export const truncateSequence = correction({
  name: "truncate-sequence",
  description: "weighs a rollout by the product of its ratios, at most 2",
  formula: "min(Π ρ′, C)",
  source: "TIS (verl, TRL)",
  certainty: "code",
  verl: "rollout_is: sequence",
  trl: "sequence_truncate",
  defaults: { bound: 2 },
  compute: bySequence((ratio, { bound }) => Math.min(ratio, bound))
})

import { weighing } from "../Surrogate.ts"

/**
 * The policy gradient without a ratio: tokens of an older policy count as if they were of the policy now. It is the loss of
 * GPG, and that of rejection sampling with the advantage `reward`.
 */
export const reinforce = weighing({
  name: "reinforce",
  description: "weighs each token by its advantage, without a ratio, as in REINFORCE and GPG",
  formula: "g = A",
  source: "GPG, arXiv 2504.02546",
  certainty: "code",
  verl: "gpg",
  defaults: {},
  factor: () => 1
})

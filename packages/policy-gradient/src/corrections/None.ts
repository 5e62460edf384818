import { correction } from "../Correction.ts"

/** The sampler's log-probabilities are trusted, as where sampler and trainer are one program. */
export const none = correction({
  name: "none",
  description: "trusts the sampler's log-probabilities, and asks the trainer for none",
  formula: "1",
  source: "GRPO",
  certainty: "code",
  defaults: {},
  compute: ({ trainer }) => trainer.map(() => 1)
})

import { keep } from "../Keep.ts"

/**
 * All rollouts are trained; those without an advantage still count in the shares of the others, so that groups of equal rewards
 * make the step smaller.
 */
export const all = keep({
  name: "all",
  description: "trains all rollouts of a step",
  formula: "every rollout",
  source: "GRPO",
  certainty: "code",
  defaults: {},
  compute: (groups) => groups.map((group) => group.map(() => true))
})

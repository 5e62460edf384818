import { keep } from "../Keep.ts"

/** The overlong filter: rollouts that were cut off are not trained, as their reward says little. They stay in the group's baseline. */
export const finished = keep({
  name: "finished",
  description: "leaves out rollouts that were cut off at their limit",
  formula: "rollouts that ended by themselves",
  source: "DAPO, arXiv 2503.14476",
  certainty: "code",
  trl: "mask_truncated_completions",
  defaults: {},
  compute: (groups) => groups.map((group) => group.map(({ truncated }) => !truncated))
})

import { keep, wholeGroups } from "../Keep.ts"
import { Moments } from "@inspo/statistics"

/**
 * The zero-variance filter of ScaleRL, and dynamic sampling of DAPO: groups of equal rewards leave, also from the divisor. So
 * the gradient is that of the other groups alone. `stillWanted` says how many questions to draw until a step is full.
 */
export const differing = keep({
  name: "differing",
  description: "leaves out groups of equal rewards, also from the divisor",
  formula: "groups whose rewards differ",
  source: "ScaleRL; DAPO, arXiv 2503.14476",
  certainty: "code",
  verl: "filter_groups",
  defaults: {},
  compute: wholeGroups((rewards) => !Moments.allEqual(rewards))
})

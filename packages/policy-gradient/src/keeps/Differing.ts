import { keep, wholeGroups } from "../Keep.ts"
import { Moments } from "@inspo/statistics"

/**
 * The zero-variance filter of ScaleRL, and dynamic sampling of DAPO: groups of equal rewards leave, also from the divisor. So
 * the gradient is that of the other groups alone. Of `draws` batches of further questions at most, a run draws until enough groups
 * of a step differ; with 0 it draws none. It draws by the rewards of rollouts before any shaping, as DAPO does by their success.
 */
export const differing = keep({
  name: "differing",
  description: "leaves out groups of equal rewards, also from the divisor; up to `draws` further batches replace them",
  formula: "groups whose rewards differ",
  source: "ScaleRL; DAPO, arXiv 2503.14476",
  certainty: "code",
  verl: "filter_groups",
  defaults: { draws: 0 },
  compute: wholeGroups((rewards) => !Moments.allEqual(rewards))
})

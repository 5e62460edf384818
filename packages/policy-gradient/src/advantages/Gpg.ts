import { estimator, regroup, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"

/**
 * GPG: centred rewards times α, the members of the batch per member of a group that differs. So groups of equal rewards do not make
 * the gradient smaller. α is 1 where every group differs, and advantages of a group sum to 0.
 */
export const gpg = estimator({
  name: "gpg",
  description: "is the centred reward, scaled up by the share of the step that has a gradient",
  formula: "A = α · (r − mean) / f, α = members / members of groups with A ≠ 0",
  source: "GPG",
  certainty: "code",
  verl: "gpg",
  allowsLevels: false,
  defaults: { norm: 1 },
  estimate: (groups, { norm }) => {
    const centred = groups.flatMap((group) => Moments.centre(rewardsOf(group)))
    const acting = groups.filter((group) => !Moments.allEqual(rewardsOf(group))).flat().length
    const factor = acting === 0 ? 0 : centred.length / acting / norm
    return regroup(
      groups,
      centred.map((value) => value * factor)
    )
  }
})

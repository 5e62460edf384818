import { groupReward, perAttempt } from "../GroupReward.ts"
import { Method } from "@inspo/domain"

/**
 * FAPO: a success by flawed reasoning earns less than a sound one and more than a failure. Only successes need a judge; for
 * agents that search, an answer that no observation holds is a flaw that needs none. That is the rule without a `model`. Rewards
 * between 0 and 1 are in proportion, which the paper does not have.
 */
export const flawed = groupReward({
  name: "flawed",
  description: "takes from a success what its flawed reasoning costs",
  formula: "2r − 1 − λ · r · 1[flawed]; so 1 − λ for a flawed success of reward 1, and −1 for a failure",
  source: "FAPO, arXiv 2510.22543",
  certainty: "code",
  needs: "which successes are flawed",
  isSupplied: true,
  judge: "steps",
  defaults: { penalty: 1, ...Method.judged },
  compute: perAttempt(({ flawed, reward }, { penalty }) => {
    if (reward <= 0) return -1
    return 2 * reward - 1 - (Method.required("flawed", "flawed", flawed) ? penalty * reward : 0)
  })
})

import { groupReward, perAttempt } from "../GroupReward.ts"
import { Method } from "@inspo/domain"

/**
 * FAPO: a success by flawed reasoning earns less than a sound one and more than a failure. Only successes need a judge; for
 * agents that search, an answer that no observation holds is a flaw that needs none. That is the rule without a `model`.
 */
export const flawed = groupReward({
  name: "flawed",
  description: "takes from a success what its flawed reasoning costs",
  formula: "r = 1 − λ · 1[flawed] for a success, −1 for a failure",
  source: "FAPO, arXiv 2510.22543",
  certainty: "code",
  needs: "which successes are flawed",
  isSupplied: true,
  judge: "steps",
  defaults: { penalty: 1, ...Method.judged },
  compute: perAttempt(({ flawed, reward }, { penalty }) => {
    if (reward <= 0) return -1
    return Method.required("flawed", "flawed", flawed) ? 1 - penalty : 1
  })
})

import { groupReward, perAttempt } from "../GroupReward.ts"
import { Method } from "@inspo/domain"

/**
 * HAPO, history-aware: a success earns more if it is shorter than the shortest success on the question so far, and less if it
 * is longer; a failure is never praised for its length. So with weight 1 every success beats every failure.
 */
export const historyLength = groupReward({
  name: "history-length",
  description: "adds to a success how much shorter it is than the shortest success so far",
  formula: "r = 1[success] + w · (max(f, −0.7) or min(f, 0)); f = cos(π/2 · n / h) if n < 2h, else −1",
  source: "HAPO (history-aware), arXiv 2505.11225",
  certainty: "code",
  needs: "the shortest success of each question so far",
  defaults: { weight: 1, floor: -0.7 },
  compute: perAttempt(({ length, reward, shortest }, { floor, weight }) => {
    const success = reward > 0 ? 1 : 0
    const best = shortest === null ? null : Method.required("history-length", "shortest", shortest)
    if (best === null) return success
    const f = length < 2 * best ? Math.cos(((Math.PI / 2) * length) / best) : -1
    return success + weight * (success === 1 ? Math.max(floor, f) : Math.min(0, f))
  })
})

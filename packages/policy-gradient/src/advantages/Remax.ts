import { estimator, perGroup } from "../Estimator.ts"
import { Method } from "@inspo/domain"

/**
 * ReMax: the reward less that of the most probable response to the same prompt. The baseline does not depend on the sample, so
 * the mean gradient is that of the mean reward. A policy that samples only its most probable response gets 0.
 */
export const remax = estimator({
  name: "remax",
  description: "is the reward less that of the greedy rollout of the same prompt",
  formula: "A = r − r of the greedy rollout",
  source: "ReMax, arXiv 2310.10505",
  certainty: "code",
  verl: "remax",
  needs: "a greedy rollout of each prompt",
  allowsLevels: false,
  defaults: {},
  estimate: perGroup((group) => group.map(({ greedy, reward }) => reward - Method.required("remax", "greedy", greedy)))
})

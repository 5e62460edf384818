import { estimator, perGroup } from "../Estimator.ts"
import { Method } from "@inspo/domain"

/**
 * Training for pass@k, in closed form: the mean advantage of a rollout over all subsets of k of its group, of which the best
 * counts. Advantages of a group sum to 0; k = 1 without division is `centred`. Without division the mean gradient is
 * (1/k − 1/n) · ∇pass@k. Rewards above 0 are successes. A
 * smaller group has k = n, which leaves no gradient.
 */
export const passAtK = estimator({
  name: "pass-at-k",
  description: "trains the probability that one of 4 rollouts succeeds",
  formula:
    "success: (1 − P) / (S + ε); failure: (1 − P − C(m − 1, k − 1) / C(n − 1, k − 1)) / (S + ε); S = √(P(1 − P))",
  source: "Pass@k training, arXiv 2508.10751",
  certainty: "code",
  allowsLevels: false,
  defaults: { k: 4, epsilon: 1e-6, divide: Method.on },
  estimate: perGroup((group, { divide, epsilon, k: most }) => {
    const n = group.length
    const k = Math.min(most, n)
    const failures = group.filter(({ reward }) => reward <= 0).length
    if (failures === 0 || failures === n) return group.map(() => 0)
    const solved = 1 - choose(failures, k) / choose(n, k)
    const spread = divide ? Math.sqrt(solved * (1 - solved)) + epsilon : 1
    const failure = 1 - solved - choose(failures - 1, k - 1) / choose(n - 1, k - 1)
    return group.map(({ reward }) => (reward > 0 ? 1 - solved : failure) / spread)
  })
})

const choose = (n: number, k: number): number => {
  let ways = k > n ? 0 : 1
  for (let i = 0; i < k && ways > 0; i++) ways = (ways * (n - i)) / (i + 1)
  return ways
}

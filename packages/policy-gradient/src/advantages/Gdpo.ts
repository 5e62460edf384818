import { sumAll } from "effect/Number"
import { estimator, perGroup } from "../Estimator.ts"
import { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"

const unweighted: ReadonlyArray<number> = []

/**
 * GDPO: each kind of reward is standardised in its group by itself, then they are added, so that none hides another by its
 * scale. One kind alone is GRPO, and a kind that is equal in all members adds 0. A kind without a weight has weight 1.
 */
export const gdpo = estimator({
  name: "gdpo",
  description: "standardises each kind of reward in its group and adds them",
  formula: "A = Σ wⱼ · (rⱼ − meanⱼ) / (sdⱼ + ε) over kinds j",
  source: "GDPO, arXiv 2601.05242",
  certainty: "code",
  verl: "gdpo, which then whitens over the batch",
  trl: "multi_objective_aggregation: normalize_then_sum",
  needs: "several rewards of each rollout",
  allowsLevels: false,
  defaults: { epsilon: 1e-4, weights: unweighted },
  estimate: perGroup((group, { epsilon, weights }) => {
    const rewards = group.map(({ rewards }) => Method.required("gdpo", "rewards", rewards))
    const kinds = (rewards[0] ?? []).map((_, kind) =>
      Moments.standardise(
        rewards.map((ofMember) => ofMember[kind] ?? Number.NaN),
        epsilon
      )
    )
    return group.map((_, index) => sumAll(kinds.map((values, kind) => (weights[kind] ?? 1) * (values[index] ?? 0))))
  })
})

import { credit } from "../Credit.ts"
import { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"

/**
 * EAPO of IterResearch: a turn is rewarded less the more turns follow it, and all turns of the group are compared. So what
 * answers in fewer turns is preferred. γ is not stated in the paper; γ = 1 gives each turn its outcome.
 */
export const discount = credit({
  name: "discount",
  description: "rewards a turn less the more turns follow it, and compares all turns of a group",
  formula: "r_t = γ^(T − t) · R; A_t = (r_t − mean) / (sd + ε) over all turns of the group",
  source: "IterResearch, arXiv 2511.07327",
  certainty: "part",
  defaults: { gamma: Method.unknown, epsilon: 1e-6 },
  compute: (group, { epsilon, gamma }) => {
    const factor = Method.required("discount", "gamma", gamma)
    const returns = group.map(({ reward, turns }) => discounted(reward, turns.length, factor))
    const values = Moments.standardise(returns.flat(), epsilon)
    let start = 0
    return returns.map(({ length }) => values.slice(start, (start += length)))
  }
})

/** The reward of each of so many turns. */
export const discounted = (reward: number, turns: number, gamma: number): ReadonlyArray<number> =>
  Array.from({ length: turns }, (_, index) => gamma ** (turns - 1 - index) * reward)

import { credit } from "../Credit.ts"

/**
 * Every turn has the advantage of its rollout, as GRPO does it. All other rules are compared with this one: equal numbers for
 * all turns give the datums of a rollout without credit.
 */
export const outcome = credit({
  name: "outcome",
  description: "gives every turn the advantage of its rollout",
  formula: "A_t = A",
  source: "GRPO",
  certainty: "code",
  allowsLevels: true,
  defaults: {},
  compute: (group) => group.map(({ advantage, turns }) => turns.map(() => advantage))
})

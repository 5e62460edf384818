import { groupReward } from "../GroupReward.ts"

/**
 * EMPO: the share of the group with the same answer, without a golden answer. No answer earns 0, and so do all where no two
 * agree. It can collapse to confident wrong answers, so compare it with a set that has golden answers.
 */
export const agreement = groupReward({
  name: "agreement",
  description: "is the share of the group that gave the same answer",
  formula: "r = members with the same answer / n; 0 if all differ",
  source: "EMPO, arXiv 2504.05812",
  certainty: "code",
  isNeverNegative: true,
  replacesRewards: true,
  defaults: {},
  compute: (group) => {
    const sizes = new Map<string, number>()
    for (const { answer } of group) if (answer !== null) sizes.set(answer, (sizes.get(answer) ?? 0) + 1)
    const alone = group.length > 1 && Math.max(0, ...sizes.values()) === 1
    return group.map(({ answer }) => (answer === null || alone ? 0 : (sizes.get(answer) ?? 0) / group.length))
  }
})

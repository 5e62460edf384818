import { keep, wholeGroups } from "../Keep.ts"
import { Moments } from "@inspo/statistics"

/**
 * A window of difficulty: groups whose mean reward is within bounds, since success teaches most where it is neither rare nor
 * certain. The bounds are those by which IterResearch chooses its questions.
 */
export const difficulty = keep({
  name: "difficulty",
  description: "trains groups whose mean reward is from 0.2 to 0.6",
  formula: "groups with low ≤ mean r ≤ high",
  source: "IterResearch, arXiv 2511.07327",
  certainty: "code",
  defaults: { low: 0.2, high: 0.6 },
  compute: wholeGroups((rewards, { high, low }) => Moments.mean(rewards) >= low && Moments.mean(rewards) <= high)
})

/** ScaleRL leaves out what is nearly always solved, unless nothing else is left. Its questions are asked again in each epoch. */
export const unsolved = keep({
  name: "unsolved",
  description: "leaves out groups whose mean reward is 0.9 or more, unless all are",
  formula: "groups with mean r < 0.9",
  source: "ScaleRL, no positive resampling",
  certainty: "code",
  defaults: { high: 0.9 },
  compute: (groups, { high }) => {
    const open = groups.map((group) => Moments.mean(group.map(({ reward }) => reward)) < high)
    return groups.map((group, index) => group.map(() => open[index] === true || !open.includes(true)))
  }
})

import { groupReward, perAttempt } from "../GroupReward.ts"
import { Method } from "@inspo/domain"

/** RubricEM, of whole rollouts: a judge scores each by the criteria of its question, and adds to them. The cap is the paper's. */
export const rubric = groupReward({
  name: "rubric",
  description: "is a judge's score by criteria that separate good rollouts of the question from bad ones",
  formula: "r = Σ w · s / 2 / Σ w, s in 0, 1, 2; 2 − s for faults",
  source: "RubricEM, arXiv 2605.10899",
  certainty: "text",
  needs: "a judge by rubrics",
  judge: "rubric",
  isNeverNegative: true,
  replacesRewards: true,
  defaults: { ...Method.judged, cap: 3 },
  compute: perAttempt(({ score }) => Method.required("rubric", "score", score))
})

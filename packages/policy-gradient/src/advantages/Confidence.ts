import { estimator, perGroup, rewardsOf } from "../Estimator.ts"
import { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"

/**
 * ProGRPO: GRPO plus α times the certainty of the prompt less that of the answer, so that answers of which the policy is less
 * certain gain. Certainty is the geometric mean probability of the least probable fifth of the tokens. The change is at
 * most α, and groups of equal rewards are untouched. α is not published.
 */
export const confidence = estimator({
  name: "confidence",
  description: "is GRPO with more for answers that the policy was less certain of, as in ProGRPO",
  formula: "A = GRPO + α · (c of the prompt − c of the answer)",
  source: "ProGRPO, arXiv 2602.05281",
  certainty: "part",
  needs: "the log-probabilities of the prompt",
  allowsLevels: false,
  defaults: { alpha: Method.unknown, epsilon: 1e-6 },
  estimate: perGroup((group, { alpha, epsilon }) => {
    const factor = Method.required("confidence", "alpha", alpha)
    const values = Moments.standardise(rewardsOf(group), epsilon)
    if (Moments.allEqual(rewardsOf(group))) return values
    return group.map(({ confidence }, index) => {
      const { answer, prompt } = Method.required("confidence", "confidence", confidence)
      return (values[index] ?? 0) + factor * (prompt - answer)
    })
  })
})

/** The certainty of a text: the geometric mean of the probabilities of its least probable tokens, `share` of all. */
export const certainty = (logprobs: ReadonlyArray<number>, share = 0.2): number => {
  const count = Math.max(1, Math.ceil(logprobs.length * share))
  const least = logprobs.toSorted((a, b) => a - b).slice(0, count)
  return Math.exp(least.reduce((sum, value) => sum + value, 0) / count)
}

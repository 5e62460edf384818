import { ExactMatch, RewardFunction, Rewards } from "@inspo/reward"

/** Cost of each turn after the second. */
export const pricePerTurn = 0.1

/** Word F1, minus the cost of the turns: a correct answer in two turns gets 1, in four 0.8. */
export const thrifty = RewardFunction.make("thrifty", (attempt) => {
  // Only the policy's own text counts, so that neither the instruction nor a tool can plant an answer.
  const answer = Rewards.extract(attempt, "response")
  const score = answer === null ? 0 : ExactMatch.f1(answer, attempt.question.goldenAnswers)
  const price = pricePerTurn * Math.max(0, attempt.turns.length - 2)
  return { answer, reward: Math.max(0, score - price) }
})

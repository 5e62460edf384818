import { ExactMatch, RewardFunction, Rewards } from "@inspo/reward"

/** What every turn after the second costs. */
export const pricePerTurn = 0.1

/** Word F1, less what the turns cost: the right answer in two turns is worth 1, in four 0.8. */
export const thrifty = RewardFunction.make("thrifty", (attempt) => {
  // Only what the policy wrote itself counts: neither the instruction nor a tool can plant an answer.
  const answer = Rewards.extract(attempt, "response")
  const worth = answer === null ? 0 : ExactMatch.f1(answer, attempt.question.goldenAnswers)
  const price = pricePerTurn * Math.max(0, attempt.turns.length - 2)
  return { answer, reward: Math.max(0, worth - price) }
})

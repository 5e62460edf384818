import { Chat, type Question, Spent } from "@inspo/domain"
import { JudgePrompt, judgeOf } from "@inspo/reward"
import { ModelName, Prices } from "@inspo/reflection"
import type { RunConfig } from "./RunConfig.ts"

/** The most that scoring an answer to a question can cost: nothing without a language model as the judge. */
export const atMost = (
  { budget, requests, reward, rollout }: Pick<RunConfig, "budget" | "requests" | "reward" | "rollout">,
  question: Pick<Question.Question, "question" | "goldenAnswers">
): Spent.Spent => {
  const judge = judgeOf(reward)
  if (judge === null) return Spent.nothing
  const prompt = JudgePrompt.prompt(question, "", judge.criteria ?? JudgePrompt.defaultCriteria)
  const most = JudgePrompt.defaultAttempts * (1 + requests.retries)
  // A long token of the policy can be several tokens of the judge.
  const input = Chat.estimateTokens(prompt) + tokensOfAnAnswer * rollout.maxResponseTokens
  return Prices.atMost(Prices.priceOf(ModelName.modelOf(judge.model), budget.prices), most, {
    input,
    output: JudgePrompt.maxOutputTokens
  })
}

const tokensOfAnAnswer = 4

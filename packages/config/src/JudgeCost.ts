import type { Question } from "@inspo/domain/Question"
import * as Spent from "@inspo/domain/Spent"
import { Prices, TokenEstimate } from "@inspo/reflection"
import * as JudgePrompt from "@inspo/reward/JudgePrompt"
import type { RunConfig } from "./RunConfig.ts"

/** The most that scoring an answer to a question can cost: nothing, unless a language model judges. */
export const atMost = (
  { budget, judge, requests, reward, rollout }: Pick<RunConfig, "budget" | "judge" | "requests" | "reward" | "rollout">,
  question: Pick<Question, "question" | "goldenAnswers">
): Spent.Spent => {
  if (reward.kind !== "judge") return Spent.nothing
  const prompt = JudgePrompt.prompt(question, "", reward.criteria ?? JudgePrompt.defaultCriteria)
  const most = JudgePrompt.defaultAttempts * (1 + requests.retries)
  // A token of the policy may be long, and be several of the judge's.
  const input = TokenEstimate.estimate(prompt) + tokensOfAnAnswer * rollout.maxResponseTokens
  return Prices.atMost(Prices.priceOf(judge.model, budget.prices), most, { input, output: JudgePrompt.maxOutputTokens })
}

const tokensOfAnAnswer = 4

import { Effect, Layer, Option, Result } from "effect"
import type { LanguageModel } from "effect/ai"
import * as JudgeCall from "./JudgeCall.ts"
import type { JudgeModel } from "./JudgeModels.ts"
import * as JudgePrompt from "./JudgePrompt.ts"
import { Reward } from "./Reward.ts"
import { make, RewardError, type RewardFunction } from "./RewardFunction.ts"
import type { ModelOptions } from "./RewardKind.ts"
import { extract } from "./Scope.ts"

/**
 * A reward given by a language model that compares the final answer with the golden ones. It sees the question and the
 * answer, never the instruction or the rest of the response. An attempt without an answer earns 0 unasked; a model that
 * does not come up with a verdict is an error, never a zero.
 *
 * @example
 * ```ts
 * import * as JudgeReward from "@inspo/reward/JudgeReward"
 *
 * const layer = JudgeReward.layer({ scope: "response" }) // needs a LanguageModel
 * ```
 */
export const layer = (options: ModelOptions): Layer.Layer<Reward, never, LanguageModel.LanguageModel> =>
  Layer.effect(
    Reward,
    Effect.map(rewardFunction(options), ({ score }) => Reward.of({ score }))
  )

/** The reward function of {@link layer}. */
export const rewardFunction = Effect.fnUntraced(function* (
  options: ModelOptions
): Effect.fn.Return<RewardFunction, never, LanguageModel.LanguageModel> {
  const { criteria = JudgePrompt.defaultCriteria, name = "judge", scope } = options
  const ask = yield* JudgeCall.make(options)
  return make(
    name,
    Effect.fnUntraced(function* (attempt) {
      const answer = extract(attempt, scope)
      if (answer === null) return { answer, reward: 0 }
      const prompt = JudgePrompt.prompt(attempt.question, answer, criteria)
      const [verdict, spent] = yield* ask(prompt, JudgePrompt.parseVerdict, "<score>NUMBER</score> with 0 to 1")
      if (Result.isFailure(verdict))
        return yield* new RewardError({ reward: name, reason: verdict.failure.reason, spent })
      return { answer, reward: verdict.success, spent }
    })
  )
})

/** The language model of the context as a judge of groups and turns. */
export const judgeModel = Effect.fnUntraced(function* (
  options: Pick<ModelOptions, "attempts" | "concurrency" | "meter"> & Pick<JudgeModel, "atMost">
) {
  const call = yield* JudgeCall.make(options)
  const model: JudgeModel = {
    atMost: options.atMost,
    ask: Effect.fnUntraced(function* (prompt, isReadable) {
      const [reply, spent] = yield* call(prompt, Option.liftPredicate(isReadable), "a verdict in its tags")
      if (Result.isSuccess(reply)) return { text: reply.success, spent }
      const { kind, reason } = reply.failure
      return kind === "failed" ? yield* new RewardError({ reward: "judge", reason, spent }) : { text: null, spent }
    })
  }
  return model
})

import { PlainText, Spent, Thoughts } from "@inspo/domain"
import { Effect, Layer, Option, Ref, Result, Semaphore } from "effect"
import { LanguageModel } from "effect/ai"
import * as JudgePrompt from "./JudgePrompt.ts"
import { Reward } from "./Reward.ts"
import { make, RewardError, type RewardFunction } from "./RewardFunction.ts"
import type { Meter, ModelOptions } from "./RewardKind.ts"
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
  const model = yield* LanguageModel.LanguageModel
  const { attempts, concurrency = 8, criteria, meter = byUsage, name = "judge", scope } = options
  const atOnce = Semaphore.makeUnsafe(concurrency)

  /** Fails with why there is no verdict. */
  const ask = Effect.fn("JudgeReward.ask")(function* (prompt: string, spent: Ref.Ref<Spent.Spent>) {
    const [result, cost] = yield* meter([prompt], model.generateText({ prompt }))
    yield* Ref.update(spent, (before) => Spent.add(before, cost))
    if (Result.isFailure(result)) return yield* Effect.fail(`the model could not be asked: ${result.failure.message}`)
    const { finishReason, text } = result.success
    // What was cut may be a thought about the verdict.
    const verdict = finishReason === "length" ? Option.none() : JudgePrompt.parseVerdict(Thoughts.strip(text))
    return yield* Effect.fromOption(verdict).pipe(
      Effect.mapError(
        () =>
          `the model wrote ${excerpt(text)}${finishReason === "length" ? " up to its limit of tokens" : ""}, ` +
          "expected <score>NUMBER</score> with 0 to 1"
      )
    )
  })

  return make(
    name,
    Effect.fnUntraced(function* (attempt) {
      const answer = extract(attempt, scope)
      if (answer === null) return { answer, reward: 0 }
      const prompt = JudgePrompt.prompt(attempt.question, answer, criteria ?? JudgePrompt.defaultCriteria)
      const total = yield* Ref.make(Spent.nothing)
      const verdict = yield* ask(prompt, total).pipe(
        Effect.retry({ times: Math.max(0, (attempts ?? JudgePrompt.defaultAttempts) - 1) }),
        (asking) => atOnce.withPermit(asking),
        Effect.result
      )
      const spent = yield* Ref.get(total)
      if (Result.isFailure(verdict)) return yield* new RewardError({ reward: name, reason: verdict.failure, spent })
      return { answer, reward: verdict.success, spent }
    })
  )
})

const byUsage: Meter = (_, call) =>
  Effect.map(Effect.result(call), (result) => {
    const tokens = Result.match(result, {
      onFailure: () => 0,
      onSuccess: ({ usage }) => (usage.inputTokens.total ?? 0) + (usage.outputTokens.total ?? 0)
    })
    return [result, { calls: 1, tokens, usd: null }]
  })

const excerpt = (text: string): string =>
  PlainText.escape(JSON.stringify(text.length <= 200 ? text : `${text.slice(0, 200)}…`))

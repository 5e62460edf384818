/** Calls to a language model whose reply has to be read. */
import { PlainText, Spent, Thoughts } from "@inspo/domain"
import { Effect, Option, Ref, Result, Semaphore } from "effect"
import { type AiError, LanguageModel } from "effect/ai"
import * as JudgePrompt from "./JudgePrompt.ts"
import type { Meter, ModelOptions } from "./RewardKind.ts"

/** Why there is no verdict: the model failed, refuses this prompt, or wrote a last reply that could not be read. */
export interface Unjudged {
  readonly kind: "failed" | "refused" | "unread"
  readonly reason: string
}

/** Asks the language model until `read` reads its reply, a few times at most, with the cost. `expected` says what it was to write. */
export const make = Effect.fnUntraced(function* ({
  attempts = JudgePrompt.defaultAttempts,
  concurrency = 8,
  meter = byUsage
}: Pick<ModelOptions, "attempts" | "concurrency" | "meter">) {
  const model = yield* LanguageModel.LanguageModel
  const atOnce = Semaphore.makeUnsafe(concurrency)

  return <A>(prompt: string, read: (reply: string) => Option.Option<A>, expected: string) => {
    const ask = Effect.fn("JudgeCall.ask")(function* (spent: Ref.Ref<Spent.Spent>) {
      const [result, cost] = yield* meter([prompt], model.generateText({ prompt }))
      yield* Ref.update(spent, (before) => Spent.add(before, cost))
      if (Result.isFailure(result)) {
        const { message, reason } = result.failure
        return yield* unjudged(isOfPrompt(reason) ? "refused" : "failed", `the model could not be asked: ${message}`)
      }
      const { finishReason, text } = result.success
      // What was cut may be a thought about the verdict.
      const verdict = finishReason === "length" ? Option.none() : read(Thoughts.strip(text))
      return Option.isSome(verdict)
        ? verdict.value
        : yield* unjudged(
            "unread",
            `the model wrote ${excerpt(text)}${finishReason === "length" ? " up to its limit of tokens" : ""}, ` +
              `expected ${expected}`
          )
    })
    return Effect.gen(function* () {
      const spent = yield* Ref.make(Spent.nothing)
      const verdict = yield* ask(spent).pipe(
        Effect.retry({ times: Math.max(0, attempts - 1), while: ({ kind }) => kind !== "refused" }),
        (asking) => atOnce.withPermit(asking),
        Effect.result
      )
      return [verdict, yield* Ref.get(spent)] as const
    })
  }
})

/** Whether other prompts may be answered. */
const isOfPrompt = (reason: AiError.AiErrorReason): boolean =>
  reason._tag === "ContentPolicyError" || (reason._tag === "InvalidRequestError" && reason.constraint === undefined)

const unjudged = (kind: Unjudged["kind"], reason: string) => Effect.fail({ kind, reason } satisfies Unjudged)

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

import { Chat, Spent } from "@inspo/domain"
import { Effect, Ref, Result } from "effect"
import type { ModelPrice } from "./ProposerModel.ts"
import * as Prices from "./Prices.ts"
import { OnLost, OnRequest } from "./Provider.ts"

/**
 * - `price`: what the model costs, or null where that is not known.
 * - `maxOutputTokens`: the limit that the model was given.
 * - `countTokens`: the model's tokenizer, or `estimateTokens` where none is given.
 */
export interface Options {
  readonly price: ModelPrice | null
  readonly maxOutputTokens: number
  readonly countTokens?: (text: string) => number
}

/** What an answer says of its cost. */
export interface Measured {
  readonly text: string
  readonly reasoningText?: string | undefined
  readonly usage: { readonly inputTokens: Counted; readonly outputTokens: Counted }
}

interface Counted {
  readonly total?: number | undefined
}

/**
 * Makes a call to a language model with a prompt of some texts, and says what it cost, also where it failed. Tokens are
 * those that the server counts, or an estimate where it does not or counts none. A request whose answer was lost may be billed all the
 * same, so it counts as the most that it can have taken.
 */
export const measure =
  (options: Options) =>
  <A extends Measured, E, R>(
    prompt: ReadonlyArray<string>,
    call: Effect.Effect<A, E, R>
  ): Effect.Effect<readonly [result: Result.Result<A, E>, spent: Spent.Spent], never, R> =>
    Effect.gen(function* () {
      const { countTokens, price } = complete(options)
      const sent = yield* Ref.make(0)
      const lost = yield* Ref.make(Spent.nothing)
      const result = yield* Effect.result(call).pipe(
        Effect.provideService(
          OnRequest,
          Ref.update(sent, (count) => count + 1)
        ),
        Effect.provideService(
          OnLost,
          Ref.update(lost, (before) => Spent.add(before, atMost(options, prompt)))
        )
      )
      const calls = yield* Ref.get(sent)
      const unknown = { ...(yield* Ref.get(lost)), calls }
      if (Result.isFailure(result)) return [result, unknown]
      const { reasoningText = "", text, usage } = result.success
      const answered = Prices.spent(price, Math.max(1, calls), {
        input: counted(usage.inputTokens.total, total(prompt, countTokens)),
        output: counted(usage.outputTokens.total, countTokens(`${reasoningText}${text}`))
      })
      return [result, Spent.add(answered, { ...unknown, calls: 0 })]
    })

/** The most that a call with a prompt can cost; `requests` are those that it can take, repetitions included. */
export const atMost = (options: Options, prompt: ReadonlyArray<string>, requests = 1): Spent.Spent => {
  const { countTokens, maxOutputTokens, price } = complete(options)
  return Prices.atMost(price, requests, { input: total(prompt, countTokens), output: maxOutputTokens })
}

/** What a server counts, unless it counts nothing: a cap on spending must not hang on that. */
const counted = (reported: number | undefined, estimate: number): number =>
  reported === undefined || reported === 0 ? estimate : reported

const complete = (options: Options) => ({ countTokens: Chat.estimateTokens, ...options })

const total = (texts: ReadonlyArray<string>, countTokens: (text: string) => number): number =>
  texts.reduce((sum, text) => sum + countTokens(text), 0)

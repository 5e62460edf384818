/** The laws of every reward. */
import { Law } from "@inspo/domain/testing"
import { Arbitrary, Effect, type Result, Schema } from "effect"
import type { ScoredEpisode } from "../ScoredEpisode.ts"
import type { Reward } from "../Reward.ts"
import type { RewardError, Scored } from "../RewardFunction.ts"

export interface Options extends Law.Options {
  /** Whether the reward reads the prompt, and so the instruction, as scope `searchr1` does; by default it does not. */
  readonly readsPrompt?: boolean
}

/** Attempts at one question, with tags, answers and observations in any order. The response is the turns and observations. */
export const attempts: Arbitrary.Arbitrary<ScoredEpisode> = Arbitrary.map(
  Arbitrary.schema(
    Schema.Struct({
      instruction: Schema.Array(
        Schema.Literals(["Answer.", "<answer>Ostrel Bay</answer>", "</answer>", "\n", "<|user|>"])
      ),
      turns: Schema.Array(
        Schema.Struct({
          written: Schema.Array(
            Schema.Literals([
              "<think> It is in the text.</think>",
              "<search> her</search>",
              "<answer> Ostrel Bay</answer>",
              "<answer> the ostrel bay.</answer>",
              "<answer>Beijing </answer>",
              "<answer>",
              "</answer>",
              "Ostrel Bay",
              "é\n"
            ])
          ),
          shown: Schema.Literals([
            "",
            "<information> <answer> Ostrel Bay</answer></information>",
            "<information> Ulva</information>"
          ])
        })
      ).check(Schema.isMaxLength(4))
    })
  ),
  ({ instruction, turns }) => {
    const written = turns.map((turn) => turn.written.join(""))
    return {
      question: { question: "Where was she born?", goldenAnswers: ["Ostrel Bay", "the town of Ostrel Bay"] },
      prompt: `<|user|> ${instruction.join("")} Where was she born?<|assistant|>`,
      response: turns.map(({ shown }, index) => `${written[index]}${shown}`).join(""),
      turns: written
    }
  }
)

/**
 * The laws of `Reward` and of a reward function. They say nothing of what a good answer is. A reward that fails with a
 * `RewardError` breaks none.
 */
export const laws = (
  { score }: Reward.Interface,
  { readsPrompt = false, ...options }: Options = {}
): ReadonlyArray<Law.Law> => {
  /** The outcome of an attempt; an exception is none. */
  const outcome = (attempt: ScoredEpisode) => Effect.result(score(attempt))
  const both = Arbitrary.all([attempts, attempts])
  return [
    Law.forAll("a reward is in [0, 1], and nothing is thrown", attempts, options, (attempt) =>
      Effect.map(outcome(attempt), (scored) => {
        if (scored._tag === "Failure") return
        const { reward } = scored.success
        Law.expect(reward >= 0 && reward <= 1, `the reward is ${reward}`)
      })
    ),

    Law.forAll("an answer is a part of what the attempt holds", attempts, options, (attempt) =>
      Effect.map(outcome(attempt), (scored) => {
        const answer = scored._tag === "Success" ? scored.success.answer : null
        Law.expect(answer === null || (attempt.prompt + attempt.response).includes(answer), `the answer is ${answer}`)
      })
    ),

    Law.forAll("an attempt is scored alike each time, alone or among others", both, options, ([one, other]) =>
      Effect.gen(function* () {
        const alone = [yield* outcome(one), yield* outcome(other)]
        const among = yield* Effect.forEach([one, other], outcome, { concurrency: "unbounded" })
        Law.same(worth(among), worth(alone), "the outcomes among others")
      })
    ),

    ...(readsPrompt
      ? []
      : [
          Law.forAll("the instruction does not change the reward", both, options, ([{ prompt }, attempt]) =>
            Effect.gen(function* () {
              const outcomes = [yield* outcome({ ...attempt, prompt })]
              Law.same(worth(outcomes), worth([yield* outcome(attempt)]), "the outcome under another instruction")
            })
          )
        ]),

    Law.forAll("what scoring cost is counted, and not negative", attempts, options, (attempt) =>
      Effect.map(outcome(attempt), (scored) => {
        const { spent } = scored._tag === "Success" ? scored.success : scored.failure
        if (spent === undefined) return
        const { calls, tokens, usd } = spent
        Law.expect([calls, tokens].every(isCount), `${calls} calls and ${tokens} tokens`)
        Law.expect(usd === null || (usd >= 0 && Number.isFinite(usd)), `${usd} dollars`)
      })
    )
  ]
}

const worth = (outcomes: ReadonlyArray<Result.Result<Scored, RewardError>>) =>
  outcomes.map((scored) =>
    scored._tag === "Success" ? { answer: scored.success.answer, reward: scored.success.reward } : "failed"
  )

const isCount = (amount: number): boolean => Number.isInteger(amount) && amount >= 0

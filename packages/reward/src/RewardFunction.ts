import { Spent } from "@inspo/domain/Spent"
import { Effect, Schema } from "effect"
import type { Attempt } from "./Attempt.ts"

/** Judges attempts. `name` stands in configs and errors. */
export interface RewardFunction {
  readonly name: string
  readonly score: (attempt: Attempt) => Effect.Effect<Scored, RewardError>
}

/**
 * The extracted final answer, or null when there is none, and its reward in [0, 1]; `spent` is what scoring cost, where
 * that is anything.
 */
export interface Scored {
  readonly answer: string | null
  readonly reward: number
  readonly spent?: Spent
}

/**
 * An attempt could not be scored, so nothing is known of its worth; `reason` says why and how to mend it, `spent` what
 * trying cost, where that is anything.
 */
export class RewardError extends Schema.TaggedError<RewardError>()("RewardError", {
  reward: Schema.String,
  reason: Schema.String,
  spent: Schema.optionalKey(Spent)
}) {
  override get message() {
    return `reward ${this.reward}: ${this.reason}`
  }
}

/**
 * A reward function of your own: at once, or as an effect that may fail with a {@link RewardError}. A reward outside
 * [0, 1] and an exception are errors too, never a zero.
 *
 * @example
 * ```ts
 * import { AnswerExtraction, ExactMatch, layer, RewardFunction } from "@inspo/reward"
 *
 * const brief = RewardFunction.make("brief", ({ question, turns }) => {
 *   const answer = AnswerExtraction.extractAnswer(turns.at(-1) ?? "")
 *   const f1 = answer === null ? 0 : ExactMatch.f1(answer, question.goldenAnswers)
 *   return { answer, reward: turns.length > 3 ? f1 / 2 : f1 }
 * })
 * const layerBrief = layer(brief)
 * ```
 */
export const make = (
  name: string,
  score: (attempt: Attempt) => Scored | Effect.Effect<Scored, RewardError>
): RewardFunction => ({
  name,
  score: (attempt) =>
    Effect.suspend(() => {
      const scored = score(attempt)
      return Effect.isEffect(scored) ? scored : Effect.succeed(scored)
    }).pipe(
      Effect.catchDefect((defect) =>
        Effect.fail(new RewardError({ reward: name, reason: `it threw ${String(defect)}` }))
      ),
      Effect.filterOrFail(
        ({ reward }) => reward >= 0 && reward <= 1,
        (scored) => outOfRange(name, scored)
      )
    )
})

const outOfRange = (name: string, { reward, spent }: Scored): RewardError =>
  new RewardError({
    reward: name,
    reason: `it returned ${reward}, expected a number in [0, 1]; rescale what the function returns`,
    ...(spent === undefined ? {} : { spent })
  })

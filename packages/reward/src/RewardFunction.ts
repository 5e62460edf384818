import { Spent } from "@inspo/domain"
import { Effect, Schema } from "effect"
import type { ScoredEpisode } from "./ScoredEpisode.ts"

/** Judges attempts. `name` is used in configs and errors. */
export interface RewardFunction {
  readonly name: string
  readonly score: (attempt: ScoredEpisode) => Effect.Effect<Scored, RewardError>
}

/** The final answer, null if there is none, and its reward in [0, 1]; `spent` is what scoring cost, where that is anything. */
export interface Scored {
  readonly answer: string | null
  readonly reward: number
  readonly spent?: Spent.Spent
}

/** An attempt could not be scored; `reason` says why and how to fix it, `spent` what trying cost, where that is anything. */
export class RewardError extends Schema.TaggedError<RewardError>()("RewardError", {
  reward: Schema.String,
  reason: Schema.String,
  spent: Schema.optionalKey(Spent.Spent),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `reward ${this.reward}: ${this.reason}`
  }
}

/**
 * A reward function of your own: at once, or as an effect that may fail with a {@link RewardError}, which leaves the
 * attempt without a reward. An exception and a reward outside [0, 1] are faults of the function: defects that end the
 * run, name the reward and the question, and keep the stack.
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
  score: (attempt: ScoredEpisode) => Scored | Effect.Effect<Scored, RewardError>
): RewardFunction => ({
  name,
  score: (attempt) =>
    Effect.suspend(() => {
      const scored = score(attempt)
      return Effect.isEffect(scored) ? scored : Effect.succeed(scored)
    }).pipe(
      Effect.catchDefect((cause) =>
        Effect.die(new Error(`reward ${name}: it threw on the question ${quotedQuestion(attempt)}`, { cause }))
      ),
      Effect.filterOrElse(
        ({ reward }) => reward >= 0 && reward <= 1,
        ({ reward }) => Effect.die(new RangeError(outOfRange(name, attempt, reward)))
      )
    )
})

const outOfRange = (name: string, attempt: ScoredEpisode, reward: number): string =>
  `reward ${name}: it returned ${reward} for the question ${quotedQuestion(attempt)}, expected a number in [0, 1]; ` +
  "rescale what the function returns"

const quotedQuestion = ({ question }: ScoredEpisode): string => JSON.stringify(question.question)

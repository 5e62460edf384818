import { Record, Result } from "effect"
import * as AnswerExtraction from "./AnswerExtraction.ts"
import type { Attempt } from "./Attempt.ts"
import { exactMatch, f1, substringExactMatch } from "./ExactMatch.ts"
import * as ResponseFormat from "./ResponseFormat.ts"
import type { RewardConfig, Scope } from "./RewardConfig.ts"
import { make, RewardError, type RewardFunction } from "./RewardFunction.ts"
import * as SearchR1 from "./SearchR1.ts"

/** Reward functions by name, each made from the config of a run. */
export type Registry = Readonly<Record<string, (config: RewardConfig) => RewardFunction>>

/** Compares an answer with the golden answers; in [0, 1], and no lower with more of them. */
export type Measure = (answer: string, goldenAnswers: ReadonlyArray<string>) => number

/** The measures of an answer alone, by the name of their reward. */
export const measures = { em: exactMatch, subem: substringExactMatch, f1 } satisfies Record<string, Measure>

/** The rewards that need nothing but the attempt. Spread it into a registry of your own to add to it. */
export const builtIn = {
  em: ({ scope }) => fromMeasure("em", measures.em, scope),
  subem: ({ scope }) => fromMeasure("subem", measures.subem, scope),
  f1: ({ scope }) => fromMeasure("f1", measures.f1, scope),
  "em-format": ({ format, scope }) => formatAware(format, scope)
} satisfies Registry

/**
 * The reward function of a name; the error lists the names there are.
 *
 * @example
 * ```ts
 * import { defaultConfig, RewardFunction, Rewards } from "@inspo/reward"
 *
 * const answered = RewardFunction.make("answered", ({ turns }) => ({ answer: null, reward: turns.length > 0 ? 1 : 0 }))
 * const registry = { ...Rewards.builtIn, answered: () => answered }
 * const chosen = Rewards.named(registry, "answered", defaultConfig)
 * ```
 */
export const named = (
  registry: Registry,
  name: string,
  config: RewardConfig
): Result.Result<RewardFunction, RewardError> =>
  Result.fromOption(
    Record.get(registry, name),
    () =>
      new RewardError({
        reward: name,
        reason: `there is no such reward; expected one of ${Object.keys(registry).join(", ")}`
      })
  ).pipe(Result.map((reward) => reward(config)))

/** Scores the final answer by a measure; an attempt without an answer earns 0. */
export const fromMeasure = (name: string, measure: Measure, scope: Scope): RewardFunction =>
  make(name, (attempt) => {
    const answer = extract(attempt, scope)
    const factor = scope === "verl" ? SearchR1.verlFactor(attempt.response) : 1
    return { answer, reward: answer === null ? 0 : factor * measure(answer, attempt.question.goldenAnswers) }
  })

/** The final answer of an attempt, as far as the scope lets one see. */
export const extract = (attempt: Attempt, scope: Scope): string | null => {
  switch (scope) {
    case "response":
      return attempt.turns.map(AnswerExtraction.extractAnswer).findLast((answer) => answer !== null) ?? null
    case "searchr1":
      return SearchR1.extractSolution(attempt.prompt + attempt.response)
    case "verl":
      return SearchR1.extractVerl(attempt.response)
  }
}

const formatAware = (scores: ResponseFormat.FormatScores, scope: Scope): RewardFunction =>
  make("em-format", (attempt) => {
    const answer = extract(attempt, scope)
    const { goldenAnswers } = attempt.question
    if (scope === "searchr1")
      return { answer, reward: SearchR1.scoreFormat(attempt.prompt + attempt.response, goldenAnswers, scores) }
    const isCorrect = answer === null ? null : exactMatch(answer, goldenAnswers) === 1
    const isRetrieved = SearchR1.isRetrievalCorrect(attempt.response, goldenAnswers)
    const isWellFormed = ResponseFormat.isWellFormed(attempt.response)
    return { answer, reward: ResponseFormat.score({ isCorrect, isWellFormed, isRetrieved }, scores) }
  })

import { exactMatch } from "../ExactMatch.ts"
import * as ResponseFormat from "../ResponseFormat.ts"
import { make } from "../RewardFunction.ts"
import type { RewardKind } from "../RewardKind.ts"
import { extract } from "../Scope.ts"
import * as SearchR1 from "../SearchR1.ts"

/** Exact match that also counts the form of the response. */
export const emFormat = {
  name: "em-format",
  label: "EM with format",
  description: "format-aware exact match",
  needs: "attempt",
  defaults: {},
  make: ({ format, scope }) =>
    make("em-format", (attempt) => {
      const answer = extract(attempt, scope)
      const { goldenAnswers } = attempt.question
      if (scope === "searchr1")
        return { answer, reward: SearchR1.scoreFormat(attempt.prompt + attempt.response, goldenAnswers, format) }
      const isCorrect = answer === null ? null : exactMatch(answer, goldenAnswers) === 1
      const isRetrieved = SearchR1.isRetrievalCorrect(attempt.response, goldenAnswers)
      const isWellFormed = ResponseFormat.isWellFormed(attempt.response)
      return { answer, reward: ResponseFormat.score({ isCorrect, isWellFormed, isRetrieved }, format) }
    })
} satisfies RewardKind<"em-format">

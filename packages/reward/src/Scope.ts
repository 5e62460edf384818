import { Schema } from "effect"
import * as AnswerExtraction from "./AnswerExtraction.ts"
import type { ScoredEpisode } from "./ScoredEpisode.ts"
import * as SearchR1 from "./SearchR1.ts"

/**
 * Where the answer is looked for.
 *
 * - `response`: in what the policy itself wrote. Neither the instruction nor an observation can change the reward.
 * - `searchr1`: in prompt and response together, as Search-R1 does, for numbers that compare with its own.
 * - `verl`: in the response with its observations, as verl's port of Search-R1 does, its penalty for tag spam included.
 */
export const Scope = Schema.Literals(["response", "searchr1", "verl"])
export type Scope = typeof Scope.Type

/** The final answer of an attempt, as far as the scope lets one see. */
export const extract = (attempt: ScoredEpisode, scope: Scope): string | null => {
  switch (scope) {
    case "response":
      return attempt.turns.map(AnswerExtraction.extractAnswer).findLast((answer) => answer !== null) ?? null
    case "searchr1":
      return SearchR1.extractSolution(attempt.prompt + attempt.response)
    case "verl":
      return SearchR1.extractVerl(attempt.response)
  }
}

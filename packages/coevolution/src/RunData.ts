import type { Question } from "@inspo/domain"
import type { Demonstration } from "@inspo/rollout"
import { Schema } from "effect"

/** What an agent searches. */
export const Searched = Schema.Literals(["passages", "server"])
export type Searched = typeof Searched.Type

/**
 * The questions of a run. `fingerprint` identifies questions and passages together, so that a resume finds the same data.
 * `search` says what an agent searches: those passages, or what a server has.
 */
export interface RunData {
  readonly train: ReadonlyArray<Question.Question>
  readonly validation: ReadonlyArray<Question.Question>
  readonly test: ReadonlyArray<Question.Question>
  readonly fingerprint: string
  readonly search: Searched
  /** What `train.demonstrations` asks for, for each training question. */
  readonly demonstrations?: ReadonlyMap<Question.QuestionId, Demonstration.Demonstration>
}

import type { Question } from "@inspo/domain"
import type { Demonstration } from "@inspo/rollout"
import { Schema } from "effect"

/** What the agent searches. */
export const Searched = Schema.Literals(["passages", "server"])
export type Searched = typeof Searched.Type

/** The stored work of a run does not match its events, settings or data; nothing was changed. */
export class RunMismatch extends Schema.TaggedError<RunMismatch>()("RunMismatch", { reason: Schema.String }) {
  override get message() {
    return `run: ${this.reason}`
  }
}

/**
 * The questions of a run. `fingerprint` identifies questions and passages together, so that a resumed run has the same
 * data. `search` identifies what the agent searches: those passages, or the corpus of a server.
 */
export interface RunData {
  readonly train: ReadonlyArray<Question.Question>
  readonly validation: ReadonlyArray<Question.Question>
  readonly test: ReadonlyArray<Question.Question>
  readonly fingerprint: string
  readonly search: Searched
  /** The demonstrations of `control.demonstrations`, for each training question. */
  readonly demonstrations?: ReadonlyMap<Question.QuestionId, Demonstration.Demonstration>
}

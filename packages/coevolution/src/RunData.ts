import type { Question } from "@inspo/domain"
import type { Demonstration } from "@inspo/rollout"

/** The questions of a run. `fingerprint` identifies questions and corpus together, so that a resume finds the same data. */
export interface RunData {
  readonly train: ReadonlyArray<Question.Question>
  readonly validation: ReadonlyArray<Question.Question>
  readonly test: ReadonlyArray<Question.Question>
  readonly fingerprint: string
  /** What `train.demonstrations` asks for, for each training question. */
  readonly demonstrations?: ReadonlyMap<Question.QuestionId, Demonstration.Demonstration>
}

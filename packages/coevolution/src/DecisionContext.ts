import type { QuestionRef } from "./RunState.ts"
import type { Deciding } from "./Strategies.ts"

/** The constant input of the core, besides the state. */
export interface DecisionContext extends Deciding {
  /** The training questions, in the order of the data set. */
  readonly questions: ReadonlyArray<QuestionRef>
}

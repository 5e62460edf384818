import type { QuestionRef } from "./RunState.ts"
import type { Deciding } from "./Strategies.ts"

/** What the core needs to know besides the state: constant over a run. */
export interface DecisionContext extends Deciding {
  /** The training questions, in the order of the data set. */
  readonly questions: ReadonlyArray<QuestionRef>
}

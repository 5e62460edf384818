/** The registry of learners: a new one is a file in `learners`, and a line here. */
import type { Learner, LearnerKind } from "./Learner.ts"
import { evolving } from "./learners/Evolving.ts"
import { lessons } from "./learners/Lessons.ts"

/** The proposers that learn from what their proposals bring. */
export const learners = [evolving, lessons] as const

/** The name of a learner. */
export type LearnerName = (typeof learners)[number]["name"]

/** The learner that a setting names with its constants, if it names one. */
export const fromConfig = ({ name: called, ...constants }: { readonly name: string }): Learner | undefined => {
  const kinds: ReadonlyArray<LearnerKind> = learners
  const kind = kinds.find(({ name }) => name === called)
  return kind?.of({ ...kind.defaults, ...constants })
}

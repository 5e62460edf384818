/** Given turns that replace those of the policy, for supervised training. */
import type { Question } from "@inspo/domain"
import { Option } from "effect"

/** The texts of the turns of one episode, in order. */
export type Demonstration = ReadonlyArray<string>

/** Answers immediately, with the first golden answer. */
export const answers = ({ goldenAnswers }: Pick<Question.Question, "goldenAnswers">): Demonstration => [
  `<answer> ${goldenAnswers[0]}</answer>`
]

/**
 * Searches for the title of each supporting passage, one after the other, then answers. `titles` holds the titles by
 * passage id. None if the question has no supporting passages, or a passage has no title.
 */
export const searches = (
  question: Pick<Question.Question, "goldenAnswers" | "supportIds">,
  titles: ReadonlyMap<string, string>
): Option.Option<Demonstration> => {
  const found = (question.supportIds ?? []).map((id) => titles.get(id) ?? "")
  return found.length === 0 || found.includes("")
    ? Option.none()
    : Option.some([...found.map((title) => `<search> ${title}</search>`), ...answers(question)])
}

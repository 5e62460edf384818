/** Turns that are written in the policy's place, for supervised training. */
import type { Question } from "@inspo/domain"
import type { Tokenizer } from "@inspo/engine"
import { Option } from "effect"
import { finished, type Progress } from "./Agent.ts"
import type { Reply } from "./Tool.ts"

/** The texts of the turns of one episode, in order. */
export type Demonstration = ReadonlyArray<string>

/** Answers at once, with the first golden answer. */
export const answers = ({ goldenAnswers }: Pick<Question.Question, "goldenAnswers">): Demonstration => [
  `<answer> ${goldenAnswers[0]}</answer>`
]

/**
 * Searches for the title of each supporting passage, one after the other, then answers. `titles` holds the titles by
 * passage id. None where the question does not say what supports it, or a passage has no title.
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

/**
 * The progress of an episode whose turns are those of a demonstration: nothing is sampled, tools are called as ever, and
 * the log-probabilities are those the policy gives the turns in the end. A turn is cut at the limit a sampled one has.
 */
export const follow = (tokenizer: Tokenizer, turns: Demonstration, progress: Progress): Progress => {
  switch (progress._tag) {
    case "Sampling": {
      const [turn, ...rest] = turns
      if (turn === undefined) return { ...finished(progress.recording, "turns-exhausted"), rescore: true }
      const tokens = tokenizer.encode(turn).slice(0, progress.request.maxTokens)
      const written = { tokens, logprobs: tokens.map(() => 0), stopReason: "stop" as const }
      return follow(tokenizer, rest, progress.resume(written))
    }
    case "Calling":
      return { ...progress, resume: (reply: Reply) => follow(tokenizer, turns, progress.resume(reply)) }
    case "Finished":
      return { ...progress, rescore: true }
  }
}

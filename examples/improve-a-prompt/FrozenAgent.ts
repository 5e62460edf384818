import type { Question } from "@inspo/domain"
import type { ReflectiveRecord } from "@inspo/reflection"
import { AnswerExtraction, ExactMatch } from "@inspo/reward"
import { Effect } from "effect"
import type { LanguageModel } from "effect/ai"

/** One answer of the agent: its text, and reward 1 if the answer is correct, else 0. */
export interface Attempt {
  readonly question: Question.Question
  readonly text: string
  readonly answer: string | null
  readonly reward: 0 | 1
}

/** A model behind an API as an agent: its weights are frozen, so only a better prompt can improve it. */
export const attempt = (model: LanguageModel.LanguageModel) => (prompt: string, question: Question.Question) =>
  Effect.map(
    model.generateText({
      prompt: [
        { role: "system", content: prompt },
        { role: "user", content: question.question }
      ]
    }),
    ({ text }): Attempt => {
      const answer = AnswerExtraction.extractAnswer(text)
      return { question, text, answer, reward: ExactMatch.exactMatch(answer ?? "", question.goldenAnswers) }
    }
  )

/** A failed attempt in the form that a proposer reads. */
export const failure = ({ answer, question, reward, text }: Attempt): ReflectiveRecord => ({
  score: reward,
  task: question.question,
  expected: question.goldenAnswers,
  transcript: {
    turns: [
      { text, action: { kind: answer === null ? "invalid" : "answer", content: answer ?? "" }, observation: null }
    ],
    answer,
    finishReason: answer === null ? "invalid-action" : "answered"
  }
})

import { Question } from "@inspo/domain"

const ask = (question: string, ...goldenAnswers: readonly [string, ...ReadonlyArray<string>]): Question.Question => ({
  id: Question.QuestionId.make(question),
  question,
  goldenAnswers,
  dataSource: "capitals"
})

/** Questions whose failures the proposer sees. */
export const training: ReadonlyArray<Question.Question> = [
  ask("What is the capital of Australia?", "Canberra"),
  ask("What is the capital of Brazil?", "Brasília", "Brasilia"),
  ask("What is the capital of Canada?", "Ottawa"),
  ask("What is the capital of Kenya?", "Nairobi")
]

/** Unseen questions, for verification. */
export const heldOut: ReadonlyArray<Question.Question> = [
  ask("What is the capital of Japan?", "Tokyo"),
  ask("What is the capital of Morocco?", "Rabat"),
  ask("What is the capital of New Zealand?", "Wellington"),
  ask("What is the capital of Norway?", "Oslo"),
  ask("What is the capital of Peru?", "Lima"),
  ask("What is the capital of Vietnam?", "Hanoi")
]

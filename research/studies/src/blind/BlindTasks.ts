import type { Question } from "@inspo/domain"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { letter, type Task } from "../gate/Tasks.ts"
import { type BlindReward, rewards } from "./Rewards.ts"

const Piece = Schema.Struct({ id: Schema.String, text: Schema.NonEmptyString })

const decode = Schema.decodeSync(Schema.fromJsonString(Piece))

/** The advice that proposals are made of, by an author who did not know the rewards. */
export const bank: ReadonlyArray<typeof Piece.Type> = readFileSync(
  new URL("../../blind/bank.jsonl", import.meta.url),
  "utf8"
)
  .trimEnd()
  .split("\n")
  .map((line) => decode(line))

export const [plain] = letter.instructions

/** The questions of `letter`, with what rewards ask of them: the person, the number and the text. */
export const questionsOf = (count: number, seed: number): ReadonlyArray<Question.Question> =>
  letter.questions(count, seed).map((question) => {
    const [, name = "", number = ""] = /^(\S+) gave you (\d+) /u.exec(question.question) ?? []
    return { ...question, goldenAnswers: [name, number, question.question] }
  })

const taskOf = ({ byHand, condition, name }: BlindReward): Task => ({
  name: `blind-${name}`,
  asks: condition,
  instructions: [plain, `${plain} ${byHand}`],
  sentences: bank.map(({ text }) => text),
  measure: name,
  tokens: 40,
  questions: questionsOf
})

const [first, ...others] = rewards
if (first === undefined) throw new Error("there are twelve rewards")

/** A task for each reward, in their order. */
export const tasks: readonly [Task, ...ReadonlyArray<Task>] = [taskOf(first), ...others.map(taskOf)]

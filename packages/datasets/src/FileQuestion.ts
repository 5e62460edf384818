import type { Question } from "@inspo/domain"

/** The parts of a data set. Files that call the validation part `dev` or `val` are understood. */
export type Split = "train" | "validation" | "test"

/** A question as a file holds it; `split` is there when its row says so, `prompt` only when it was asked for. */
export interface FileQuestion extends Question.Question {
  readonly split?: Split
  readonly prompt?: ReadonlyArray<Message>
}

/** A message of a row's own prompt. */
export interface Message {
  readonly role: string
  readonly content: string
}

import type { Question } from "@inspo/domain"

/** The parts of a data set. Files that call the validation part `dev` or `val` are understood. */
export type Split = "train" | "validation" | "test"

/** A question of a file; `split` is present if its row has it, `prompt` only if requested. */
export interface FileQuestion extends Question.Question {
  readonly split?: Split
  readonly prompt?: ReadonlyArray<Message>
}

/** A message of a row's own prompt. */
export interface Message {
  readonly role: string
  readonly content: string
}

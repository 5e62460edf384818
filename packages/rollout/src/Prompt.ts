import type { Instruction, Question } from "@inspo/domain"
import type { Message, Tokenizer } from "@inspo/engine"
import type { RolloutConfig } from "./RolloutConfig.ts"

/** What decides the conversation an episode opens with. */
export type Options = Pick<RolloutConfig, "texts">

/** What else the user message may hold: what the tools are, for `{tools}`, and what was found, put at the end. */
export interface Extras {
  readonly tools?: string
  readonly context?: string
}

/**
 * The conversation an episode opens with: the template filled in as the user, or the instruction as the system and the
 * rest of the template as the user. White space around instruction and question is dropped.
 *
 * @example
 * ```ts
 * import { defaultConfig, Prompt } from "@inspo/rollout"
 *
 * Prompt.messages({ text: "Answer briefly." }, { question: "Who founded Lumen Works?" }, defaultConfig)
 * // [{ role: "user", content: "Answer briefly. Question: Who founded Lumen Works?" }]
 * ```
 */
export const messages = (
  instruction: Pick<Instruction.Instruction, "text">,
  question: Pick<Question.Question, "question">,
  options: Options,
  { context, tools = "" }: Extras = {}
): ReadonlyArray<Message> => {
  const text = instruction.text.trim()
  const fill = (instruction: string) => {
    const filled = options.texts.prompt.replace(/\{(instruction|question|tools)\}/g, (_, field) =>
      field === "instruction" ? instruction : field === "question" ? question.question.trim() : tools
    )
    return context === undefined ? filled : `${filled.trimEnd()} Context: ${context}`
  }
  return options.texts.role === "user"
    ? [{ role: "user", content: fill(text) }]
    : [
        { role: "system", content: text },
        { role: "user", content: fill("").trimStart() }
      ]
}

/** The prompt's tokens, up to and including the opening of the assistant's turn. */
export const render = (
  tokenizer: Tokenizer,
  instruction: Pick<Instruction.Instruction, "text">,
  question: Pick<Question.Question, "question">,
  options: Options,
  extras: Extras = {}
): ReadonlyArray<number> => tokenizer.prompt(messages(instruction, question, options, extras))

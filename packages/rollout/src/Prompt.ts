import type { Instruction, Question } from "@inspo/domain"
import type { Message, Tokenizer } from "@inspo/engine"
import type { EpisodeConfig } from "./EpisodeConfig.ts"

/** The settings of the conversation that an episode starts with. */
export type Options = Pick<EpisodeConfig, "texts">

/**
 * Further parts of the user message: the tools, for `{tools}`; the agent's own request, after the tools, or at the end of a template
 * without `{tools}`; and the passages found, after all.
 */
export interface Extras {
  readonly tools?: string
  readonly request?: string
  readonly context?: string | undefined
}

/**
 * The conversation that an episode starts with: the filled template as the user message, or the instruction as the system
 * message and the rest of the template as the user message. White space around instruction and question is removed. Earlier
 * messages of the question's conversation are before that user message.
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
  question: Pick<Question.Question, "conversation" | "question">,
  options: Options,
  { context, request = "", tools = "" }: Extras = {}
): ReadonlyArray<Message> => {
  const text = instruction.text.trim()
  const { conversation = [] } = question
  const template = options.texts.prompt
  const described = request === "" ? tools : `${tools} ${request}`.trim()
  const fill = (instruction: string) => {
    const filled = template.replace(/\{(instruction|question|tools)\}/g, (_, field) =>
      field === "instruction" ? instruction : field === "question" ? question.question.trim() : described
    )
    const asked = request === "" || template.includes("{tools}") ? filled : `${filled.trimEnd()} ${request}`
    return context === undefined ? asked : `${asked.trimEnd()} Context: ${context}`
  }
  return options.texts.role === "user"
    ? [...conversation, { role: "user", content: fill(text) }]
    : [{ role: "system", content: text }, ...conversation, { role: "user", content: fill("").trimStart() }]
}

/** Messages with more words at the end of the last. */
export const added = (messages: ReadonlyArray<Message>, words: string): ReadonlyArray<Message> =>
  messages.map((message, index) =>
    index === messages.length - 1 ? { ...message, content: `${message.content.trimEnd()} ${words}` } : message
  )

/** The prompt's tokens, up to and including the start of the assistant's turn. */
export const render = (
  tokenizer: Tokenizer,
  instruction: Pick<Instruction.Instruction, "text">,
  question: Pick<Question.Question, "conversation" | "question">,
  options: Options,
  extras: Extras = {}
): ReadonlyArray<number> => tokenizer.prompt(messages(instruction, question, options, extras))

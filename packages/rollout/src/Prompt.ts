import type { Instruction, Question } from "@inspo/domain"
import type { Message, Tokenizer } from "@inspo/engine"
import type { InstructionRole } from "./RolloutConfig.ts"

/**
 * The conversation an episode opens with: `{instruction} Question: {question}` as the user, or the instruction as the
 * system and `Question: {question}` as the user. White space around a message is the chat template's affair.
 */
export const messages = (
  instruction: Pick<Instruction.Instruction, "text">,
  question: Pick<Question.Question, "question">,
  role: InstructionRole
): ReadonlyArray<Message> => {
  const asked = `Question: ${question.question.trim()}`
  return role === "user"
    ? [{ role: "user", content: `${instruction.text.trim()} ${asked}` }]
    : [
        { role: "system", content: instruction.text.trim() },
        { role: "user", content: asked }
      ]
}

/** The prompt's tokens, up to and including the opening of the assistant's turn. */
export const render = (
  tokenizer: Tokenizer,
  instruction: Pick<Instruction.Instruction, "text">,
  question: Pick<Question.Question, "question">,
  role: InstructionRole
): ReadonlyArray<number> => tokenizer.prompt(messages(instruction, question, role))

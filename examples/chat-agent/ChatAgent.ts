import type { Inspo, Lease } from "@inspo/client"
import { generateText, type LanguageModel, type ModelMessage } from "ai"

/** What the agent says when no server answers, and what the population begins with. */
export const prompt = "You are the support agent of a small shop. Answer the customer."

/** Further prompts that compete with the first from the start. */
export const variants = [
  "You are the support agent of a small shop. Ask which order it is about, then answer the customer in two sentences.",
  "You are the support agent of a small shop. Answer the customer in one friendly sentence."
]

export interface Turn {
  readonly answer: string
  /** To be told with the thumb; null where the agent went on without a server. */
  readonly lease: Lease["id"]
}

/** One conversation: every turn has the instruction that the first one was leased. */
export const conversation = (inspo: Inspo, model: LanguageModel, id: string) => {
  const messages: Array<ModelMessage> = []
  return async (question: string): Promise<Turn> => {
    const lease = await inspo.lease("support", { sticky: id, fallback: prompt })
    messages.push({ role: "user", content: question })
    const { text } = await generateText({ model, system: lease.text, messages })
    messages.push({ role: "assistant", content: text })
    return { answer: text, lease: lease.id }
  }
}

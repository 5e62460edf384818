import type { Inspo, Lease } from "@inspo/client"
import { generateText, type LanguageModel, type ModelMessage } from "ai"

/** The seed of the population, and the fallback if no server answers. */
export const prompt = "You are the support agent of a small shop. Answer the customer."

/** Prompts that compete with the seed from the start. */
export const variants = [
  "You are the support agent of a small shop. Ask which order it is about, then answer the customer in two sentences.",
  "You are the support agent of a small shop. Answer the customer in one friendly sentence."
]

export interface Turn {
  readonly answer: string
  /** Reported with the thumb; null if no server answered. */
  readonly lease: Lease["id"]
}

/** One conversation: every turn has the instruction of the first one. */
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

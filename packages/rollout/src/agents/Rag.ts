import type { Agent, Conversation, Environment } from "../Agent.ts"
import type { Program } from "../Episode.ts"
import * as Prompt from "../Prompt.ts"
import * as ToolLoop from "./ToolLoop.ts"

/** The agent `rag`: the result of a search for the question is part of the prompt, and the policy answers in one turn. */
export const agent: Agent<"rag"> = {
  name: "rag",
  description: "answers in one turn, after one search for the question",
  source: "RAG, arXiv 2005.11401",
  turns: () => 1,
  tools: () => ["search"],
  policyTools: [],
  maximumTokens: ToolLoop.maximumTokensOfAnswer,
  make: (environment) =>
    retrieveFirst(environment, ToolLoop.loop(environment, { maxTurns: 0, grammar: () => ToolLoop.answers }))
}

/**
 * Searches for the question, and continues with a prompt that ends with the result, between information tags. What does not
 * fit into `maxObservationTokens`, or into `maxPromptTokens` beside the rest, is cut off.
 */
export const retrieveFirst = (
  { config, toolTexts: tools }: Environment,
  resume: (conversation: Conversation) => Program
) =>
  function* (conversation: Conversation): Program {
    const { instruction, question } = conversation.episode
    const opening = (context: string) => Prompt.messages(instruction, question, config, { tools, context })
    const spare = conversation.spare(opening(""))
    if (spare === 0) return "context-exhausted"
    const found = yield* ToolLoop.consult(conversation, { kind: "search", content: question.question.trim() })
    conversation.open(opening(conversation.excerpt(found, spare)))
    return yield* resume(conversation)
  }

import type { Trajectory } from "@inspo/domain"
import { Schema } from "effect"
import type { AgentKind, Conversation } from "../Agent.ts"
import type { Program } from "../Episode.ts"
import * as Prompt from "../Prompt.ts"
import * as ToolLoop from "./ToolLoop.ts"

const { answers: grammar } = ToolLoop

/**
 * The agent `delethink`: a long thought in at most `chunks` chunks, without tools. The first is up to C tokens, as
 * `rollout.maxResponseTokens` says. Each later one is written after the question, the first `head` tokens of the thought and
 * the last m − head, and is up to C − m tokens, where m is `carry` · C. So the prompt is bounded, and the thought can be
 * C + (chunks − 1) · (C − m) tokens. A thought of up to C tokens is that of `direct`. The carried tokens are part of a prompt;
 * each chunk is a segment. An answer whose tags lie in two chunks is lost.
 *
 * The paper has C = 8192, m = 4096, 5 chunks. It is defined by tokens.
 */
export const agent: AgentKind<"delethink", { carry: number; chunks: number; head: number }> = {
  name: "delethink",
  description: "thinks without tools in chunks, of which each sees only the question and the end of the thought before",
  source: "The Markovian Thinker, arXiv 2510.06557",
  certainty: "code",
  defaults: { carry: 0.5, chunks: 5, head: 100 },
  parameters: {
    carry: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
    chunks: Schema.Int.check(Schema.isGreaterThan(0)),
    head: Schema.Natural
  },
  of: ({ carry, chunks, head }) => ({
    name: "delethink",
    protocol: "tokens",
    tools: () => [],
    restarts: true,
    turns: () => chunks,
    maximumTokens: (limits, contextLength) => chunks * ToolLoop.maximumTokensOfAnswer(limits, contextLength),
    make: ({ config, toolTexts: tools }) => {
      const limit = config.maxResponseTokens
      const kept = Math.max(0, Math.min(limit - 1, Math.floor(carry * limit)))
      return function* (conversation: Conversation): Program {
        const { instruction, question } = conversation.episode
        const prompt = Prompt.messages(instruction, question, config, { tools })
        for (let chunk = 1; ; chunk++) {
          const maxTokens = chunk === 1 ? limit : limit - kept
          const { kind } = yield* conversation.turn({ ...grammar, parse: parse(conversation), maxTokens })
          if (kind === "answer") return "answered"
          if (kind !== thought.kind) return "invalid-action"
          if (chunk >= chunks) return "turns-exhausted"
          const { tokens } = conversation
          const first = Math.min(head, kept)
          const last = Math.max(first, tokens.length - (kept - first))
          conversation.restart(prompt, undefined, [...tokens.slice(0, first), ...tokens.slice(last)])
        }
      }
    }
  })
}

/** What a chunk that its limit ended is. */
const thought: Trajectory.Action = { kind: "think", content: "" }

const parse = (conversation: Conversation) => (text: string) => {
  const action = grammar.parse(text)
  return action.kind === "invalid" && conversation.isCut ? thought : action
}

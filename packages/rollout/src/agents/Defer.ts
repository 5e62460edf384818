import { Schema } from "effect"
import { Method } from "@inspo/domain"
import * as ActionParser from "../ActionParser.ts"
import type { AgentKind, Conversation } from "../Agent.ts"
import type { Program } from "../Episode.ts"
import * as Observation from "../Observation.ts"
import * as Prompt from "../Prompt.ts"
import * as ToolLoop from "./ToolLoop.ts"

const parameters = { attempts: Schema.Int.check(Schema.isGreaterThan(0)), expert: Schema.NonEmptyString }

/**
 * The agent `defer`: the policy sees several attempts of its own at the question, each from the plain prompt, and decides:
 * `<accept> 2</accept>` shows it that attempt again, `<create> why</create>` lets it solve the question again, and
 * `<defer> question</defer>` asks the tool `expert`, such as a stronger model or a person behind an MCP server. Then it answers.
 * Train it with `reward.shaping: costs`, which counts these actions; its published prices are those of `defer` and `create`.
 *
 * How many attempts see one another is not published. In the paper an expert's answer is also a demonstration; here it is not
 * trained.
 */
export const agent: AgentKind<
  "defer",
  { attempts: number | null; expert: null },
  { attempts: number | null; expert: string | null }
> & { readonly parameters: typeof parameters } = {
  name: "defer",
  description: "sees several attempts, and accepts one, solves the question again, or asks an expert, which is a tool",
  source: "HILA, arXiv 2603.07972",
  certainty: "part",
  defaults: { attempts: Method.unknown, expert: null },
  parameters,
  of: (given) => {
    const attempts = Method.required("defer", "attempts", given.attempts)
    const expert = Method.required("defer", "expert", given.expert)
    return {
      name: "defer",
      promptsDiffer: true,
      tools: () => [expert],
      policyTools: [],
      ownActions: decisions,
      asides: () => attempts,
      maximumTokens: (limits, contextLength) =>
        ToolLoop.maximumTokens(limits, contextLength) + attempts * contextLength,
      make: ({ config }) =>
        function* (conversation: Conversation): Program {
          const { instruction, question } = conversation.episode
          const plain = Prompt.messages(instruction, question, config)
          const asked = (context: string) => Prompt.messages(instruction, question, config, { request, context })
          const each = Math.floor(conversation.spare(asked("")) / attempts)
          if (each === 0) return "context-exhausted"
          const made: Array<string> = []
          while (made.length < attempts)
            made.push((yield* conversation.aside(`attempt-${made.length}`, plain, ToolLoop.answers.stop)) ?? "")
          conversation.open(asked(made.map((text, at) => conversation.excerpt(shown(text, at + 1), each)).join("")))
          let isDecided = false
          for (;;) {
            const action = yield* conversation.turn(isDecided ? ToolLoop.answers : deciding)
            const ending = ToolLoop.over(conversation, action, config.maxTurns)
            if (ending !== null) return ending
            const { content, kind } = action
            const accepted = made[Number(content) - 1]
            if (kind === "invalid") yield* conversation.show(config.texts.invalidAction)
            else if (kind === "accept" && accepted === undefined)
              yield* conversation.show(Observation.rejected(kind, "Name the number of an attempt."))
            else {
              isDecided = true
              if (kind === "defer")
                yield* conversation.show(yield* ToolLoop.consult(conversation, { kind: expert, content }))
              else yield* conversation.show(accepted ?? "Solve the question again.")
            }
          }
        }
    }
  }
}

const decisions = ["accept", "create", "defer"] as const

/** An attempt with its number. An excerpt loses its end, so the answer comes first. */
const shown = (text: string, number: number): string => {
  const { content, kind } = ToolLoop.answers.parse(text)
  return `${number}: ${kind === "answer" ? `${content}. ` : ""}${text}`
}

/** What precedes the attempts. */
export const request =
  "<accept> 1</accept> takes attempt 1, <create> why</create> solves again, <defer> question</defer> asks an expert. Then answer."

const grammar = ActionParser.grammar(decisions)

/** An answer without a decision is invalid, so that none is free. */
const deciding: ActionParser.Grammar = {
  ...grammar,
  parse: (text) => {
    const action = grammar.parse(text)
    return action.kind === "answer" ? { kind: "invalid", content: "" } : action
  }
}

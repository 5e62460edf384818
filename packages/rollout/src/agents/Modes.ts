import { Method } from "@inspo/domain"
import { Schema } from "effect"
import * as ActionParser from "../ActionParser.ts"
import type { AgentKind } from "../Agent.ts"
import * as Prompt from "../Prompt.ts"
import * as ToolLoop from "./ToolLoop.ts"

/** The tag that a message begins with says how its writer goes on. */
const modes = ["instant", "reasoning", "agentic"] as const

/**
 * The agent `modes`: the policy begins with `<instant>` and answers without a thought, with `<reasoning>` and thinks before it
 * answers, or with `<agentic>` and calls tools as `search-r1` does. In a group each mode is forced in `forced` rollouts, the first
 * ones, by a tag at the end of the prompt, which is not trained; the others choose. A message without a tag is agentic. With a chat
 * model the tag is asked for. Train it with `reward.shaping: adaptive-tools`.
 *
 * How many rollouts are forced is not published, and neither is how the terms of the paper's reward combine.
 */
export const agent: AgentKind<"modes", { forced: number | null }> = {
  name: "modes",
  description:
    "answers at once, thinks first, or calls tools as `search-r1` does: forced in some rollouts of a group, else chosen",
  source: "A²FM, arXiv 2510.12838",
  certainty: "part",
  defaults: { forced: Method.unknown },
  parameters: { forced: Schema.Natural },
  of: ({ forced }) => ({
    name: "modes",
    promptsDiffer: true,
    groupSize: modes.length * (forced ?? 0),
    tools: (config) => config.tools,
    maximumTokens: ToolLoop.maximumTokens,
    make: (environment) => {
      const { config, toolTexts } = environment
      const agentic = ActionParser.grammar(config.tools)
      const grammars = { agentic, instant, reasoning: ToolLoop.answers }
      const each = Method.required("modes", "forced", forced)
      return (conversation) => {
        const { instruction, member, question } = conversation.episode
        let mode = member === undefined ? undefined : modes[Math.floor(member / each)]
        const free: ActionParser.Grammar = {
          ...agentic,
          parse: (text) => {
            mode = modes.find((one) => text.trimStart().startsWith(`<${one}>`)) ?? "agentic"
            return grammars[mode].parse(text)
          }
        }
        conversation.open(
          Prompt.messages(instruction, question, config, { tools: toolTexts, request }),
          mode === undefined ? undefined : `<${mode}>`
        )
        const grammar = () => (mode === undefined ? free : grammars[mode])
        return ToolLoop.loop(environment, { maxTurns: config.maxTurns, grammar })(conversation)
      }
    }
  })
}

/** What follows the tools. */
export const request = "Begin with <instant> to answer at once, <reasoning> to think first, or <agentic> to use tools."

/** A thought makes an instant answer invalid. */
const instant: ActionParser.Grammar = {
  ...ToolLoop.answers,
  parse: (text) => (text.includes("<think>") ? { kind: "invalid", content: "" } : ToolLoop.answers.parse(text))
}

import type { Agent, Conversation } from "../Agent.ts"
import * as ActionParser from "../ActionParser.ts"
import type { Program } from "../Episode.ts"
import * as Observation from "../Observation.ts"
import * as Prompt from "../Prompt.ts"
import * as ToolLoop from "./ToolLoop.ts"

/**
 * The agent `iter-research`: each turn is written for a prompt of its own, which holds the question, the report that the
 * policy wrote last, its last call and the result; all else is gone. A turn without a report leaves the last one as it is.
 * The report takes at most half of what an observation may, so that the prompt is bounded whatever the number of turns.
 *
 * IterResearch, arXiv 2511.07327, section 3. The texts of the prompt are those of `rollout.texts`.
 */
export const agent: Agent<"iter-research"> = {
  name: "iter-research",
  description: "writes a report each turn, and then sees only the question, the report and the last result",
  source: "IterResearch, arXiv 2511.07327",
  tools: (config) => config.tools,
  restarts: true,
  maximumTokens: (limits, contextLength) =>
    (limits.maxTurns + 1) * Math.min(limits.maxPromptTokens + limits.maxResponseTokens, contextLength),
  make: ({ config, toolTexts }) => {
    const { maxTurns } = config
    const grammar = ActionParser.grammar(config.tools)
    const described = { tools: toolTexts, request: maxTurns === 0 ? "" : request }
    return function* (conversation: Conversation): Program {
      const { episode, turns } = conversation
      const prompt = (context?: string) =>
        Prompt.messages(episode.instruction, episode.question, config, { ...described, context })
      conversation.open(prompt())
      let report = ""
      for (;;) {
        const action = yield* conversation.turn(grammar)
        const { content, kind } = action
        if (kind === "answer") return "answered"
        if (turns.length > maxTurns) return ToolLoop.exhausted(conversation, kind)
        report = reported(turns.at(-1)?.text ?? "") ?? report
        const call = kind === "invalid" ? "" : `<${kind}> ${Observation.neutralise(content)}</${kind}>`
        const half = Math.floor(conversation.spare(prompt(call)) / 2)
        const known = report === "" ? call : conversation.excerpt(report, half) + call
        const spare = conversation.spare(prompt(known))
        if (spare === 0) return "context-exhausted"
        const found = kind === "invalid" ? config.texts.invalidAction : yield* ToolLoop.consult(conversation, action)
        const shown = conversation.excerpt(found, spare)
        conversation.restart(prompt(known + shown), shown)
      }
    }
  }
}

/** What follows the tools. */
export const request =
  "<report> text</report> before a call keeps what you know: you will see only the report and the result."

const reported = (text: string): string | undefined =>
  /<report>((?:(?!<\/?report>)[^])*)<\/report>/u.exec(text)?.[1]?.trim()

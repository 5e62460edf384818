import type { Trajectory } from "@inspo/domain"
import * as ActionParser from "../ActionParser.ts"
import type { Agent } from "../Agent.ts"
import * as Prompt from "../Prompt.ts"
import * as ToolLoop from "./ToolLoop.ts"

/**
 * The agent `reflect`: an attempt as by `search-r1`, then the policy's reflection on it, then another attempt from the plain prompt
 * and the reflection. All three are trained, each in a segment of its own, by the last answer; `train.credit: reflections` lets a
 * judge credit the reflections. A turn without a reflection leaves the prompt plain. Without room to show the attempt it is the
 * episode.
 *
 * The paper samples 8 reflections on one rollout and keeps the best of each question for later steps. Here the rollouts of a
 * group have one reflection each, on their own attempt, for their own next one.
 */
export const agent: Agent<"reflect"> = {
  name: "reflect",
  description: "attempts as `search-r1` does, writes a reflection on it, and attempts again with the reflection alone",
  source: "RubricEM, arXiv 2605.10899",
  tools: (config) => config.tools,
  ownActions: ["reflect"],
  restarts: true,
  turns: (maxTurns) => 2 * maxTurns + 3,
  maximumTokens: (limits, contextLength) =>
    2 * ToolLoop.maximumTokens(limits, contextLength) + ToolLoop.maximumTokensOfAnswer(limits, contextLength),
  make: (environment) => {
    const { config, toolTexts: tools } = environment
    const attempting = ActionParser.grammar(config.tools)
    return function* (conversation) {
      const { instruction, question } = conversation.episode
      const prompt = (context?: string) => Prompt.messages(instruction, question, config, { tools, context })
      const attempt = () =>
        ToolLoop.loop(environment, {
          maxTurns: conversation.turns.length + config.maxTurns,
          grammar: () => attempting
        })(conversation)
      conversation.open(prompt())
      const ending = yield* attempt()
      const room = conversation.spare(prompt(` ${request}`))
      if (room === 0) return ending
      conversation.restart(prompt(`${conversation.excerpt(inOrder(conversation.turns), room)} ${request}`))
      const { content, kind } = yield* conversation.turn(reflecting)
      const spare = conversation.spare(prompt(""))
      conversation.restart(prompt(kind === "invalid" || spare === 0 ? undefined : conversation.excerpt(content, spare)))
      return yield* attempt()
    }
  }
}

/** What follows the attempt. */
export const request =
  "Say between <reflect> and </reflect> what to do otherwise: in the next attempt you see only that."

/** An excerpt loses its end, so the last turn, which answers, comes first. */
const inOrder = (turns: ReadonlyArray<Trajectory.Turn>): string =>
  [...turns.slice(-1), ...turns.slice(0, -1)].map(({ observation, text }) => text + (observation ?? "")).join(" ")

const { parse } = ActionParser.grammar(["reflect"])

/** A reflection is no place for an answer. */
const reflecting: ActionParser.Grammar = {
  stop: ["</reflect>"],
  parse: (text) => {
    const action = parse(text)
    return action.kind === "answer" ? { kind: "invalid", content: "" } : action
  }
}

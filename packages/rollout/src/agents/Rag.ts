import { Result } from "effect"
import { type Agent, type Environment, finished, type Progress } from "../Agent.ts"
import type { Episode } from "../Episode.ts"
import * as Observation from "../Observation.ts"
import * as Recording from "../Recording.ts"
import * as ToolLoop from "./ToolLoop.ts"
import * as Turns from "./Turns.ts"

/** The agent `rag`: what a search for the question finds stands in the prompt, and the policy answers in one turn. */
export const agent: Agent = {
  tools: () => ["search"],
  make: (environment) => retrieveFirst(environment, ToolLoop.make(environment, { tools: [], maxTurns: 0 }))
}

/**
 * Searches for the question, and goes on with a prompt that ends with what was found, between information tags. What does
 * not fit into `maxObservationTokens`, or into `maxPromptTokens` beside the rest, is cut off.
 */
export const retrieveFirst =
  (environment: Environment, goOn: (episode: Episode, recording: Recording.Recording) => Progress) =>
  (episode: Episode): Progress => {
    const { config, tokenizer } = environment
    const recording = Recording.empty(Turns.prompt(environment, episode))
    return {
      _tag: "Calling",
      recording,
      tool: "search",
      input: episode.question.question.trim(),
      resume: (reply) => {
        const found = Result.isSuccess(reply) ? reply.success : Observation.rejected("search", reply.failure.reason)
        const spare = config.maxPromptTokens - Turns.prompt(environment, episode, "").length
        const limit = Math.min(config.maxObservationTokens, spare)
        if (limit < Observation.envelope(tokenizer)) return finished(recording, "context-exhausted")
        const context = Observation.make(tokenizer, found, limit).text
        return goOn(episode, Recording.called(Recording.empty(Turns.prompt(environment, episode, context))))
      }
    }
  }

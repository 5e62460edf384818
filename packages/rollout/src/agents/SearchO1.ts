import type { Agent, Environment } from "../Agent.ts"
import * as Observation from "../Observation.ts"
import * as Recording from "../Recording.ts"
import * as ToolLoop from "./ToolLoop.ts"
import * as Turns from "./Turns.ts"

/**
 * The agent `search-o1`: the loop of `search-r1`, but what a tool returned is first condensed by the policy itself, under a
 * prompt of its own, and only the condensation is shown. Its tokens count as observation: they answer another prompt. A
 * condensation that comes out empty, or has no room, leaves the text as it was.
 */
export const agent: Agent = {
  tools: (config) => config.tools,
  make: (environment) => {
    const { maxTurns, tools } = environment.config
    const begin = ToolLoop.make(environment, { tools, maxTurns, digest: condense(environment) })
    return (episode) => begin(episode, Recording.empty(Turns.prompt(environment, episode)))
  }
}

/** How the policy is asked to condense what a tool returned. */
export const request = "Say in one sentence what this tells about the question."

const condense =
  ({ config, contextLength, tokenizer }: Environment): Turns.Digest =>
  ({ action, episode, recording }, text, show) => {
    const { content, kind } = action
    const documents = Observation.make(tokenizer, text, config.maxObservationTokens).text
    const asked = `${episode.question.question.trim()} <${kind}> ${content}</${kind}>${documents} ${request}`
    const prompt = tokenizer.prompt([{ role: "user", content: `Question: ${asked}` }])
    const maxTokens = Math.min(config.maxResponseTokens, contextLength - prompt.length)
    return maxTokens < 1
      ? show(text)
      : {
          _tag: "Sampling",
          recording,
          request: {
            prompt,
            n: 1,
            stop: ["</think>", "</answer>"],
            maxTokens,
            temperature: config.temperature,
            topP: config.topP,
            seed: `${episode.seed}/${recording.transcript.length - 1}/condense`
          },
          resume: (sampled) => {
            const condensed = Turns.withoutTags(tokenizer.decode(sampled.tokens))
            return show(condensed === "" ? text : condensed)
          }
        }
  }

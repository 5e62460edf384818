import type { Agent, Environment, Progress } from "../Agent.ts"
import * as ActionParser from "../ActionParser.ts"
import type { Episode } from "../Episode.ts"
import * as Recording from "../Recording.ts"
import * as Turns from "./Turns.ts"

/** What an agent may change about the loop; `tools` can be called, by name. */
export interface Options extends Turns.Options {
  readonly tools: ReadonlyArray<string>
}

/** The agent `search-r1` in the robust mode: it thinks and calls tools, turn by turn, until it answers. */
export const agent: Agent = {
  tools: (config) => config.tools,
  make: (environment) => {
    const { maxTurns, tools } = environment.config
    const begin = make(environment, { tools, maxTurns })
    return (episode) => begin(episode, Recording.empty(Turns.prompt(environment, episode)))
  }
}

/** The agent `direct`: one turn, no tools. */
export const direct: Agent = {
  tools: () => [],
  make: (environment) => {
    const begin = make(environment, { tools: [], maxTurns: 0 })
    return (episode) => begin(episode, Recording.empty(Turns.prompt(environment, episode)))
  }
}

/**
 * The robust loop, from a recording that has a prompt. A turn ends at the closing tag of an action, and its tokens are kept
 * as sampled; a turn with broken tags costs a turn.
 */
export const make = (
  environment: Environment,
  options: Options
): ((episode: Episode, recording: Recording.Recording) => Progress) => {
  const { config, contextLength, tokenizer } = environment
  const grammar = ActionParser.grammar(options.tools)
  const follow = Turns.follow(environment, options)
  const act = (episode: Episode, recording: Recording.Recording): Progress => ({
    _tag: "Sampling",
    recording,
    request: {
      prompt: recording.prompt.concat(recording.response),
      n: 1,
      stop: grammar.stop,
      maxTokens: Math.min(config.maxResponseTokens, Recording.room(recording, contextLength)),
      temperature: config.temperature,
      topP: config.topP,
      seed: `${episode.seed}/${recording.transcript.length}`
    },
    resume: (sampled) => {
      const text = tokenizer.decode(sampled.tokens)
      const action = grammar.parse(text)
      const written = Recording.endTurn(Recording.write(recording, sampled), text, action)
      return follow({ episode, recording: written, action }, act)
    }
  })
  return Turns.open(environment, act)
}

import type { Trajectory } from "@inspo/domain"
import { Result } from "effect"
import { type Agent, finished, type Progress } from "../Agent.ts"
import type { Episode } from "../Episode.ts"
import * as Observation from "../Observation.ts"
import * as Recording from "../Recording.ts"
import * as SearchR1 from "../SearchR1.ts"
import * as Turns from "./Turns.ts"

/**
 * The agent `search-r1` in the mode `searchr1`: the loop of the Search-R1 code, to the token.
 *
 * - No stop texts: a turn is cut after it was sampled (see `SearchR1.cut`) and tokenised again, without the end of sequence.
 * - What the environment says is cut to its first `maxObservationTokens` tokens, closing tag or not, and shows tags as
 *   they are.
 * - The policy sees the last `maxPromptTokens` tokens of prompt and response. A shorter context lowers this to what leaves
 *   `maxResponseTokens` free.
 * - After `maxTurns` turns one more is sampled, whose search is not made.
 * - Kept are the last `maxStartTokens` tokens of the prompt and the first `maxPromptTokens` of the response, as far as the
 *   context holds both; log-probabilities are the trainer's.
 */
export const agent: Agent = {
  tools: () => ["search"],
  make: (environment) => {
    const { config, contextLength, tokenizer } = environment
    const window = Math.max(1, Math.min(config.maxPromptTokens, contextLength - config.maxResponseTokens))

    const act = (episode: Episode, recording: Recording.Recording, seen: ReadonlyArray<number>): Progress => ({
      _tag: "Sampling",
      recording,
      request: {
        prompt: seen,
        n: 1,
        stop: [],
        maxTokens: Math.min(config.maxResponseTokens, contextLength - seen.length),
        temperature: config.temperature,
        topP: config.topP,
        seed: `${episode.seed}/${recording.transcript.length}`
      },
      resume: (sampled) => {
        const text = SearchR1.cut(tokenizer.decode(sampled.tokens.filter((token) => token !== tokenizer.endOfSequence)))
        const tokens = tokenizer.encode(text)
        const action = SearchR1.parse(text)
        const written = Recording.write(recording, { tokens, logprobs: tokens.map(() => 0) })
        return acted(episode, Recording.endTurn(written, text, action), [...seen, ...tokens], action)
      }
    })

    const acted = (
      episode: Episode,
      recording: Recording.Recording,
      seen: ReadonlyArray<number>,
      action: Trajectory.Action
    ): Progress => {
      if (action.kind === "answer") return end(recording, "answered")
      if (recording.transcript.length > config.maxTurns)
        return end(recording, action.kind === "invalid" ? "invalid-action" : "turns-exhausted")
      const show = (recording: Recording.Recording, text: string): Progress => {
        const tokens = Observation.encodeStart(tokenizer, text, config.maxObservationTokens).slice(
          0,
          config.maxObservationTokens
        )
        const observation = { tokens, text: tokenizer.decode(tokens) }
        return act(episode, Recording.show(recording, observation), [...seen, ...tokens].slice(-window))
      }
      return action.kind === "invalid"
        ? show(recording, config.invalidAction)
        : {
            _tag: "Calling",
            recording,
            tool: action.kind,
            input: action.content,
            resume: (reply) =>
              show(
                Recording.called(recording),
                SearchR1.information(Result.isSuccess(reply) ? reply.success : reply.failure.reason)
              )
          }
    }

    const end = (recording: Recording.Recording, reason: Trajectory.FinishReason): Progress => {
      const prompt = recording.prompt.slice(-config.maxStartTokens)
      const kept = Math.min(config.maxPromptTokens, contextLength - prompt.length)
      return {
        ...finished(
          {
            ...recording,
            prompt,
            response: recording.response.slice(0, kept),
            logprobs: recording.logprobs.slice(0, kept),
            mask: recording.mask.slice(0, kept)
          },
          reason
        ),
        rescore: true
      }
    }

    const begin = Turns.open(environment, (episode, recording) => act(episode, recording, recording.prompt))
    return (episode) => {
      const question = { ...episode.question, question: SearchR1.question(episode.question.question) }
      return begin(episode, Recording.empty(Turns.prompt(environment, { ...episode, question })))
    }
  }
}

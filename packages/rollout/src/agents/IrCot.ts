import type { Trajectory } from "@inspo/domain"
import type { SampledSequence } from "@inspo/engine"
import type { Agent, Environment, Progress } from "../Agent.ts"
import type { Episode } from "../Episode.ts"
import * as Recording from "../Recording.ts"
import { retrieveFirst } from "./Rag.ts"
import * as Turns from "./Turns.ts"

/**
 * The agent `ircot`: thoughts and searches interleaved. What a search for the question finds stands in the prompt. Then
 * the policy writes one sentence at a time, each of which is searched for as it stands, until it answers or `maxTurns`
 * sentences have been searched for; the turn after them has no end but the answer.
 */
export const agent: Agent = {
  tools: () => ["search"],
  make: (environment) => retrieveFirst(environment, think(environment))
}

const think = (environment: Environment): ((episode: Episode, recording: Recording.Recording) => Progress) => {
  const { config, contextLength, tokenizer } = environment
  const { maxResponseTokens, maxTurns } = config
  const follow = Turns.follow(environment, { maxTurns })

  /** Goes on with a turn whose tokens so far are `begun`. */
  const write = (
    episode: Episode,
    recording: Recording.Recording,
    begun: ReadonlyArray<number>,
    stop: ReadonlyArray<string>
  ): Progress => ({
    _tag: "Sampling",
    recording,
    request: {
      prompt: [...recording.prompt, ...recording.response],
      n: 1,
      stop,
      maxTokens: Math.min(maxResponseTokens - begun.length, Recording.room(recording, contextLength)),
      temperature: config.temperature,
      topP: config.topP,
      seed: `${episode.seed}/${recording.transcript.length}/${begun.length}`
    },
    resume: (sampled) => wrote(episode, Recording.write(recording, sampled), begun, sampled)
  })

  const wrote = (
    episode: Episode,
    recording: Recording.Recording,
    begun: ReadonlyArray<number>,
    { stopReason, tokens }: SampledSequence
  ): Progress => {
    const turn = [...begun, ...tokens]
    const text = tokenizer.decode(turn)
    const mayGoOn =
      stopReason === "stop" &&
      tokens.at(-1) !== tokenizer.endOfSequence &&
      turn.length < maxResponseTokens &&
      Recording.room(recording, contextLength) > 0
    // A name in an answer may hold what looks like the end of a sentence.
    if (mayGoOn && openAnswer.test(text)) return write(episode, recording, turn, ["</answer>"])
    const action = read(text)
    return follow({ episode, recording: Recording.endTurn(recording, text, action), action }, next)
  }

  const next = (episode: Episode, recording: Recording.Recording): Progress =>
    write(episode, recording, [], recording.transcript.length < maxTurns ? sentenceEnds : ["</answer>"])

  return Turns.open(environment, next)
}

const openAnswer = /<answer>(?:(?!<\/answer>)[^])*$/

/** Where a thought is searched for: after a sentence, or at the end of a block. */
const sentenceEnds: ReadonlyArray<string> = [".", "?", "!", "</think>", "</search>", "</answer>"]

/** An answer in its tags, or the sentence, without tags, as a query. */
const read = (text: string): Trajectory.Action => {
  const answer = /<answer>((?:(?!<\/?answer>)[^])*)<\/answer>/.exec(text)?.[1]?.trim() ?? ""
  if (answer !== "") return { kind: "answer", content: answer }
  const query = Turns.withoutTags(text)
  return query === "" ? { kind: "invalid", content: "" } : { kind: "search", content: query }
}

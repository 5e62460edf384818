import type { Trajectory } from "@inspo/domain"
import { Result } from "effect"
import { type Environment, finished, type Progress } from "../Agent.ts"
import type { Episode } from "../Episode.ts"
import * as Observation from "../Observation.ts"
import * as Prompt from "../Prompt.ts"
import * as Recording from "../Recording.ts"

/** A turn that was written and read. */
export interface Turn {
  readonly episode: Episode
  readonly recording: Recording.Recording
  readonly action: Trajectory.Action
}

/** Makes of a tool's reply what is shown of it, then goes on with `show`. */
export type Digest = (turn: Turn, text: string, show: (text: string) => Progress) => Progress

/** `maxTurns`: calls and invalid turns before the last turn. */
export interface Options {
  readonly maxTurns: number
  readonly digest?: Digest
}

/**
 * What follows a turn in the robust mode: the end, or an observation and then `next`. Whatever the environment says stands
 * between information tags that it cannot lose, leave or open, and leaves a token for the next turn. A turn without a valid
 * action is told so.
 */
export const follow = (environment: Environment, { digest = showAll, maxTurns }: Options) => {
  const { config, contextLength, tokenizer } = environment
  const envelope = Observation.envelope(tokenizer)
  const observationRoom = (recording: Recording.Recording): number =>
    Math.min(config.maxObservationTokens, Recording.room(recording, contextLength) - 1)

  return (turn: Turn, next: (episode: Episode, recording: Recording.Recording) => Progress): Progress => {
    const { action, episode, recording } = turn
    if (action.kind === "answer") return finished(recording, "answered")
    if (Recording.room(recording, contextLength) <= 0) return finished(recording, "context-exhausted")
    if (recording.transcript.length > maxTurns)
      return finished(recording, action.kind === "invalid" ? "invalid-action" : "turns-exhausted")
    if (observationRoom(recording) < envelope) return finished(recording, "context-exhausted")
    const show = (recording: Recording.Recording, text: string): Progress => {
      const observation = Observation.make(tokenizer, text, observationRoom(recording))
      return next(episode, Recording.show(recording, observation))
    }
    if (action.kind === "invalid") return show(recording, config.invalidAction)
    return {
      _tag: "Calling",
      recording,
      tool: action.kind,
      input: action.content,
      resume: (reply) => {
        const called = Recording.called(recording)
        return Result.isFailure(reply)
          ? show(called, Observation.rejected(action.kind, reply.failure.reason))
          : digest({ ...turn, recording: called }, reply.success, (text) => show(called, text))
      }
    }
  }
}

/** The prompt of an episode, as the config writes it, with what was found for it, if anything. */
export const prompt = (
  { config, tokenizer, toolTexts }: Environment,
  { instruction, question }: Episode,
  context?: string
): ReadonlyArray<number> =>
  Prompt.render(tokenizer, instruction, question, config, {
    tools: toolTexts,
    ...(context === undefined ? {} : { context })
  })

/** Goes on from a prompt that keeps its limit and leaves the policy a token; else the episode is over. */
export const open =
  (
    { config, contextLength }: Environment,
    goOn: (episode: Episode, recording: Recording.Recording) => Progress
  ): ((episode: Episode, recording: Recording.Recording) => Progress) =>
  (episode, recording) =>
    recording.prompt.length <= config.maxPromptTokens && recording.prompt.length < contextLength
      ? goOn(episode, recording)
      : finished(recording, "context-exhausted")

/** A text on one line, without anything between angle brackets. */
export const withoutTags = (text: string): string =>
  text
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim()

const showAll: Digest = (_, text, show) => show(text)

import type { Trajectory } from "@inspo/domain"
import type { SampledSequence } from "@inspo/engine"
import type { Observation } from "./Observation.ts"

/**
 * What happened in an episode so far. `response`, `logprobs` and `mask` are parallel, as in a trajectory; `toolCalls` counts
 * answered calls.
 */
export interface Recording extends Pick<
  Trajectory.Trajectory,
  "prompt" | "response" | "logprobs" | "mask" | "transcript" | "toolCalls"
> {}

/** An episode before its first turn. */
export const empty = (prompt: ReadonlyArray<number>): Recording => ({
  prompt,
  response: [],
  logprobs: [],
  mask: [],
  transcript: [],
  toolCalls: 0
})

/** Adds tokens the policy wrote, as they are. */
export const write = (
  recording: Recording,
  { logprobs, tokens }: Pick<SampledSequence, "tokens" | "logprobs">
): Recording => ({
  ...recording,
  response: recording.response.concat(tokens),
  logprobs: recording.logprobs.concat(logprobs),
  mask: recording.mask.concat(tokens.map(() => 1 as const))
})

/** Ends a turn, whose tokens are written: its text and the action read from it. */
export const endTurn = (recording: Recording, text: string, action: Trajectory.Action): Recording => ({
  ...recording,
  transcript: [...recording.transcript, { text, action, observation: null }]
})

/** Shows the environment's answer to the last turn. */
export const show = (recording: Recording, observation: Observation): Recording => ({
  ...recording,
  response: recording.response.concat(observation.tokens),
  logprobs: recording.logprobs.concat(observation.tokens.map(() => 0)),
  mask: recording.mask.concat(observation.tokens.map(() => 0 as const)),
  transcript: recording.transcript.map((turn, i) =>
    i < recording.transcript.length - 1 ? turn : { ...turn, observation: observation.text }
  )
})

/** Counts a call that a tool answered. */
export const called = (recording: Recording): Recording => ({ ...recording, toolCalls: recording.toolCalls + 1 })

/** Tokens left in a context. */
export const room = ({ prompt, response }: Recording, contextLength: number): number =>
  contextLength - prompt.length - response.length

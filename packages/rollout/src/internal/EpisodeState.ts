import type { Trajectory } from "@inspo/domain"
import type { SampledSequence, SampleRequest } from "@inspo/engine"
import type { Scored } from "@inspo/reward"
import * as ActionParser from "../ActionParser.ts"
import type { Episode } from "../Episode.ts"
import type { Observation } from "../Observation.ts"
import type { RolloutConfig } from "../RolloutConfig.ts"

/**
 * How far an episode has come. `index` is its place among the episodes collected together; `response`, `logprobs` and
 * `mask` are parallel, as in a trajectory.
 */
export interface EpisodeState {
  readonly index: number
  readonly episode: Episode
  readonly prompt: ReadonlyArray<number>
  readonly response: ReadonlyArray<number>
  readonly logprobs: ReadonlyArray<number>
  readonly mask: ReadonlyArray<0 | 1>
  readonly transcript: ReadonlyArray<Trajectory.Turn>
  readonly toolCalls: number
  readonly status: Status
}

/** What has to happen next: the policy acts, the environment answers its last action, or nothing. */
export type Status =
  | { readonly _tag: "Acting" }
  | { readonly _tag: "Observing"; readonly action: Trajectory.Action }
  | { readonly _tag: "Finished"; readonly reason: Trajectory.FinishReason }

/** What bounds an episode; `contextLength` and `envelope`, the shortest observation, count tokens. */
export interface Limits {
  readonly config: RolloutConfig
  readonly contextLength: number
  readonly envelope: number
}

/** An episode before its first turn; over at once when the prompt leaves the policy no token. */
export const start = (
  index: number,
  episode: Episode,
  prompt: ReadonlyArray<number>,
  limits: Limits
): EpisodeState => ({
  index,
  episode,
  prompt,
  response: [],
  logprobs: [],
  mask: [],
  transcript: [],
  toolCalls: 0,
  status:
    prompt.length > limits.config.maxPromptTokens || prompt.length >= limits.contextLength ? contextExhausted : acting
})

/** Asks for the next turn of an acting episode. */
export const request = (state: EpisodeState, limits: Limits): SampleRequest => ({
  prompt: [...state.prompt, ...state.response],
  n: 1,
  stop: ActionParser.stop,
  maxTokens: Math.min(limits.config.maxResponseTokens, room(state, limits)),
  temperature: limits.config.temperature,
  topP: limits.config.topP,
  seed: `${state.episode.seed}/${state.transcript.length}`
})

/** Takes the turn the policy wrote, its tokens as they are. */
export const act = (state: EpisodeState, sampled: SampledSequence, text: string, limits: Limits): EpisodeState => {
  const action = ActionParser.parse(text)
  const acted: EpisodeState = {
    ...state,
    response: [...state.response, ...sampled.tokens],
    logprobs: [...state.logprobs, ...sampled.logprobs],
    mask: [...state.mask, ...sampled.tokens.map(() => 1 as const)],
    transcript: [...state.transcript, { text, action, observation: null }]
  }
  return { ...acted, status: afterAction(acted, action, limits) }
}

/** How many tokens the next observation may have, one token being kept for the policy's next turn. */
export const observationRoom = (state: EpisodeState, limits: Limits): number =>
  Math.min(limits.config.maxObservationTokens, room(state, limits) - 1)

/** Shows the environment's answer to the last action. */
export const observe = (state: EpisodeState, action: Trajectory.Action, observation: Observation): EpisodeState => ({
  ...state,
  response: [...state.response, ...observation.tokens],
  logprobs: [...state.logprobs, ...observation.tokens.map(() => 0)],
  mask: [...state.mask, ...observation.tokens.map(() => 0 as const)],
  transcript: state.transcript.map((turn, i) =>
    i < state.transcript.length - 1 ? turn : { text: turn.text, action, observation: observation.text }
  ),
  toolCalls: action.kind === "search" ? state.toolCalls + 1 : state.toolCalls,
  status: acting
})

/** An episode that is over. */
export interface Finished extends EpisodeState {
  readonly status: Extract<Status, { readonly _tag: "Finished" }>
}

export const isFinished = (state: EpisodeState): state is Finished => state.status._tag === "Finished"

export const isOpen = (state: EpisodeState): boolean => !isFinished(state)

/** The query an episode waits for, if any. */
export const query = (state: EpisodeState): ReadonlyArray<string> =>
  state.status._tag === "Observing" && state.status.action.kind === "search" ? [state.status.action.content] : []

/** The trajectory of an episode that is over. */
export const trajectory = (state: Finished, scored: Scored): Trajectory.Trajectory => ({
  id: state.episode.id,
  instructionId: state.episode.instruction.id,
  questionId: state.episode.question.id,
  reward: scored.reward,
  answer: scored.answer,
  toolCalls: state.toolCalls,
  turns: state.transcript.length,
  finishReason: state.status.reason,
  promptTokens: state.prompt.length,
  responseTokens: state.response.length,
  prompt: state.prompt,
  response: state.response,
  logprobs: state.logprobs,
  mask: state.mask,
  transcript: state.transcript
})

const acting: Status = { _tag: "Acting" }
const contextExhausted: Status = { _tag: "Finished", reason: "context-exhausted" }

const room = (state: EpisodeState, limits: Limits): number =>
  limits.contextLength - state.prompt.length - state.response.length

const afterAction = (state: EpisodeState, action: Trajectory.Action, limits: Limits): Status => {
  if (action.kind === "answer") return { _tag: "Finished", reason: "answered" }
  if (room(state, limits) <= 0) return contextExhausted
  if (state.transcript.length > limits.config.maxTurns)
    return { _tag: "Finished", reason: action.kind === "search" ? "turns-exhausted" : "invalid-action" }
  return observationRoom(state, limits) < limits.envelope ? contextExhausted : { _tag: "Observing", action }
}

import type { SampledSequence, SampleRequest, Tokenizer } from "@inspo/engine"
import type { Trajectory } from "@inspo/domain"
import type { Episode } from "./Episode.ts"
import type { Recording } from "./Recording.ts"
import type { RolloutConfig } from "./RolloutConfig.ts"
import type { Reply } from "./Tool.ts"

/**
 * A way of using the policy on a question: direct answers, a loop of thoughts and searches, and so on. Pure: it says what
 * an episode needs next and takes the answer; sampling, tools and batching are the rollout's.
 */
export interface Agent {
  /** The tools it may call, by name. */
  readonly tools: (config: RolloutConfig) => ReadonlyArray<string>
  readonly make: (environment: Environment) => (episode: Episode) => Progress
}

/** What an agent acts in. `contextLength` counts prompt and response, in tokens; `toolTexts` are the tools' descriptions. */
export interface Environment {
  readonly config: RolloutConfig
  readonly tokenizer: Tokenizer
  readonly contextLength: number
  readonly toolTexts: string
}

/** How far an episode has come, and what it waits for. */
export type Progress = Sampling | Calling | Finished

/** The policy has to write. A request is for one sequence. */
export interface Sampling {
  readonly _tag: "Sampling"
  readonly recording: Recording
  readonly request: SampleRequest
  readonly resume: (sampled: SampledSequence) => Progress
}

/** A tool has to reply; one that fails for good ends the episode as failed. */
export interface Calling {
  readonly _tag: "Calling"
  readonly recording: Recording
  readonly tool: string
  readonly input: string
  readonly resume: (reply: Reply) => Progress
}

/**
 * The episode is over. With `rescore` the log-probabilities are those the trainer's view of the whole response gives the
 * action tokens, for agents that change what was sampled. `failure` says what failed an episode that is `failed`.
 */
export interface Finished {
  readonly _tag: "Finished"
  readonly recording: Recording
  readonly reason: Trajectory.FinishReason
  readonly rescore?: true
  readonly failure?: string
}

export const finished = (recording: Recording, reason: Trajectory.FinishReason): Finished => ({
  _tag: "Finished",
  recording,
  reason
})

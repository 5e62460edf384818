import type { Trajectory } from "@inspo/domain"
import type { Observation } from "./Observation.ts"

/**
 * An episode so far. `response`, `logprobs` and `mask` are parallel, as in a trajectory; `toolCalls` counts
 * answered calls, `asideTokens` the tokens outside the conversation.
 */
export interface Recording extends Pick<
  Trajectory.Trajectory,
  "prompt" | "response" | "logprobs" | "mask" | "transcript" | "toolCalls"
> {
  readonly asideTokens: number
}

/** What is recorded of a conversation. */
export interface Recorded {
  readonly recording: () => Recording
  readonly read: () => Read
}

/** A recording as texts, and the sizes of its prompt and of all after it in tokens. */
export interface Read {
  readonly prompt: string
  readonly response: string
  readonly promptTokens: number
  readonly responseTokens: number
}

/** A turn as it is recorded: its text, and its tokens with their log-probabilities. */
export interface Written {
  readonly text: string
  readonly tokens: ReadonlyArray<number>
  readonly logprobs: ReadonlyArray<number>
}

/** Records an episode while it runs. */
export class Recorder implements Recording {
  prompt: ReadonlyArray<number> = []
  readonly response: Array<number> = []
  readonly logprobs: Array<number> = []
  readonly mask: Array<0 | 1> = []
  readonly transcript: Array<Trajectory.Turn> = []
  toolCalls = 0
  asideTokens = 0

  /** A turn of the policy, and the action read from it. */
  write({ logprobs, text, tokens }: Written, action: Trajectory.Action): void {
    for (const token of tokens) {
      this.response.push(token)
      this.mask.push(1)
    }
    for (const logprob of logprobs) this.logprobs.push(logprob)
    this.transcript.push({ text, action, observation: null })
  }

  /** The environment's answer to the last turn, or more of it. */
  show({ text, tokens }: Observation): void {
    const turn = this.transcript.pop()
    if (turn === undefined) throw new RangeError("cannot show an observation before the first turn")
    this.transcript.push({ ...turn, observation: (turn.observation ?? "") + text })
    for (const token of tokens) {
      this.response.push(token)
      this.mask.push(0)
      this.logprobs.push(0)
    }
  }
}

/** How a conversation becomes tokens, and what is recorded of it. */
import { Trajectory } from "@inspo/domain"
import type { SampledSequence, Tokenizer } from "@inspo/engine"
import { Array as Arr } from "effect"
import * as Observation from "./Observation.ts"
import type { EpisodeConfig } from "./EpisodeConfig.ts"

/** Where tokens come from; `contextLength` counts prompt and response, in tokens. */
export interface Setting {
  readonly config: EpisodeConfig
  readonly tokenizer: Tokenizer
  readonly contextLength: number
}

export interface Transcription {
  /** The tokens that the policy sees before its next turn. */
  readonly seen: (recording: Recording) => ReadonlyArray<number>
  /** What is recorded of a sampled turn. */
  readonly written: (sampled: SampledSequence) => Written
  /** The shown part of a text when `room` tokens of the context are left; none if nothing fits. */
  readonly shown: (text: string, room: number) => Observation.Observation | null
  /** The kept part of a finished episode. */
  readonly kept: (recording: Recording) => Recording
  /** Whether log-probabilities are recomputed by the trainer on the whole response, instead of those of sampling. */
  readonly isRescored: boolean
}

/**
 * Tokens are kept as they were sampled. Texts of the environment are between information tags, which they can neither
 * lose nor close nor open, and leave a token for the next turn.
 */
export const verbatim = ({ config, tokenizer }: Setting): Transcription => {
  const envelope = Observation.envelope(tokenizer)
  return {
    seen: ({ prompt, response }) => prompt.concat(response),
    written: ({ logprobs, tokens }) => ({ text: tokenizer.decode(tokens), tokens, logprobs }),
    shown: (text, room) => {
      const limit = Math.min(config.maxObservationTokens, room - 1)
      return limit < envelope ? null : Observation.make(tokenizer, text, limit)
    },
    kept: (recording) => recording,
    isRescored: false
  }
}

/**
 * An episode so far. Its tokens are those of the current segment and of `earlier` ones, as in a trajectory; `toolCalls` counts
 * answered calls, `asideTokens` the tokens outside the conversation.
 */
export interface Recording extends Pick<
  Trajectory.Trajectory,
  "budget" | "earlier" | keyof Trajectory.Segment | "transcript" | "toolCalls"
> {
  readonly asideTokens: number
}

/** What is recorded of a conversation. */
export interface Recorded {
  readonly recording: () => Recording
  readonly read: () => Read
}

/** A recording as texts, and the sizes of its first prompt and of all after it in tokens. */
export interface Read {
  readonly prompt: string
  readonly response: string
  readonly promptTokens: number
  readonly responseTokens: number
}

/** The texts and sizes of a recording in tokens. */
export const readTokens = (recording: Recording, { decode }: Tokenizer): Read => {
  const [{ prompt }, ...later] = Trajectory.segments(recording)
  const responses = Trajectory.segments(recording).map(({ response }) => response)
  return {
    prompt: decode(prompt),
    response: responses.map(decode).join(""),
    promptTokens: prompt.length,
    responseTokens: [...responses, ...later.map((segment) => segment.prompt)].reduce(
      (sum, { length }) => sum + length,
      0
    )
  }
}

/** A turn as it is recorded: its text, and its tokens with their log-probabilities. */
export interface Written {
  readonly text: string
  readonly tokens: ReadonlyArray<number>
  readonly logprobs: ReadonlyArray<number>
}

/** Records an episode while it runs. */
export class Recorder implements Recording {
  earlier?: Arr.NonEmptyReadonlyArray<Trajectory.Segment>
  prompt: ReadonlyArray<number> = []
  response: Array<number> = []
  logprobs: Array<number> = []
  mask: Array<0 | 1> = []
  readonly transcript: Array<Trajectory.Turn> = []
  toolCalls = 0
  asideTokens = 0
  budget?: number
  private asked: string | null = null
  /** Whether its limit ended the last turn. */
  isCut = false
  private segment: { readonly from: number; readonly text?: string } = { from: 0 }

  /** Whether the segment has no turn yet. */
  get isFresh(): boolean {
    return this.transcript.length === this.segment.from
  }

  /** Begins a segment with these texts, which are `prompt` in tokens; the one before is kept if it has tokens. */
  restart(prompt: ReadonlyArray<number>, texts: ReadonlyArray<string>, observation?: string): void {
    if (observation !== undefined) this.observe(observation)
    const { logprobs, mask, response, transcript } = this
    if (response.length > 0)
      this.earlier = Arr.append(this.earlier ?? [], { prompt: this.prompt, response, logprobs, mask })
    this.prompt = prompt
    this.response = []
    this.logprobs = []
    this.mask = []
    if (transcript.length > 0) this.segment = { from: transcript.length, text: texts.join("\n\n") }
  }

  /** The tokens that the policy wrote, in order. */
  written(): ReadonlyArray<number> {
    return Trajectory.segments(this).flatMap(({ mask, response }) => response.filter((_, at) => mask[at] === 1))
  }

  /** What was recorded, without a segment that the policy has not seen. */
  recording(): Recording {
    const { budget, earlier, ...recording } = this
    return this.isFresh && earlier !== undefined
      ? { ...recording, ...(budget === undefined ? {} : { budget }), ...Trajectory.ofSegments(earlier) }
      : this
  }

  /** A turn of the policy, and the action read from it. */
  write({ logprobs, text, tokens }: Written, action: Trajectory.Action): void {
    for (const token of tokens) {
      this.response.push(token)
      this.mask.push(1)
    }
    for (const logprob of logprobs) this.logprobs.push(logprob)
    const prompt = this.isFresh ? this.segment.text : undefined
    const { asked } = this
    this.asked = null
    this.transcript.push({
      text,
      action,
      observation: null,
      ...(prompt === undefined ? {} : { prompt }),
      ...(asked === null ? {} : { asked })
    })
  }

  /** Remembers what was asked for before the next turn: nothing was written where the context had no room. */
  peeked(asked: string | null): string | null {
    this.asked = asked ?? ""
    return asked
  }

  announce(budget: number): void {
    this.budget = budget
  }

  /** The environment's answer to the last turn, or more of it. */
  show({ text, tokens }: Observation.Observation): void {
    if (this.isFresh) throw new RangeError("cannot show an observation before the first turn")
    this.observe(text)
    for (const token of tokens) {
      this.response.push(token)
      this.mask.push(0)
      this.logprobs.push(0)
    }
  }

  private observe(text: string): void {
    const turn = this.transcript.pop()
    if (turn !== undefined) this.transcript.push({ ...turn, observation: (turn.observation ?? "") + text })
  }
}

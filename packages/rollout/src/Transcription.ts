/** How a conversation becomes tokens. */
import type { SampledSequence, Tokenizer } from "@inspo/engine"
import * as Observation from "./Observation.ts"
import type { Recording, Written } from "./Recording.ts"
import type { RolloutConfig } from "./RolloutConfig.ts"

/** Where tokens come from; `contextLength` counts prompt and response, in tokens. */
export interface Setting {
  readonly config: RolloutConfig
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

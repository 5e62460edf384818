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
  /** The tokens before the policy's next turn, as it is given them. */
  readonly seen: (recording: Recording) => ReadonlyArray<number>
  /** What is recorded of a sampled turn. */
  readonly written: (sampled: SampledSequence) => Written
  /** What is shown of a text where `room` tokens are left of the context; none where nothing can be. */
  readonly shown: (text: string, room: number) => Observation.Observation | null
  /** What is kept of an episode that is over. */
  readonly kept: (recording: Recording) => Recording
  /** Whether log-probabilities are those the trainer's view of the whole response gives, not those of sampling. */
  readonly isRescored: boolean
}

/**
 * Tokens are kept as they were sampled. Whatever the environment says is between information tags that it cannot lose,
 * leave or open, and leaves a token for the next turn.
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

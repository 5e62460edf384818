import { Schema } from "effect"

/** One step of the paper's batch; `prompt`, `sampled` and `observed` are tokens, the last two of each turn. */
export const shape = {
  questions: 512,
  rollouts: 5,
  turns: 4,
  prompt: 300,
  sampled: 60,
  observed: 100,
  context: 2048,
  /** Episodes in flight. */
  concurrency: 256
} as const

/** What a step is played in: `vocabulary` counts the tokenizer's entries, `remote` puts the engine behind HTTP. */
export const cases = {
  tokens: { environment: "tokens", vocabulary: 0, remote: false },
  text: { environment: "text", vocabulary: 2_000, remote: false },
  "text-150k": { environment: "text", vocabulary: 150_000, remote: false },
  "tokens-http": { environment: "tokens", vocabulary: 0, remote: true },
  "text-http": { environment: "text", vocabulary: 2_000, remote: true }
} as const
export type Case = keyof typeof cases

export const isCase = (name: string): name is Case => Object.hasOwn(cases, name)

/**
 * What one step took in its own process: seconds of the clock and of the processor, megabytes resident at the peak.
 * `gradientProcessor` is what sending the training data took afterwards, which the other figures leave out.
 */
export const Measured = Schema.Struct({
  wall: Schema.Finite,
  processor: Schema.Finite,
  gradientProcessor: Schema.Finite,
  peak: Schema.Finite,
  samples: Schema.Int,
  datums: Schema.Int
})
export interface Measured extends Schema.Schema.Type<typeof Measured> {}

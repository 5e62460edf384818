import { Schema } from "effect"

/** One step of the paper's batch; `prompt`, `sampled` and `observed` are numbers of tokens, the last two per turn. */
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

/** The cases: `vocabulary` is the size of the tokenizer, `remote` puts the engine behind HTTP. */
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
 * The cost of one step in its own process: wall and processor seconds, peak resident megabytes. `gradientProcessor` is the
 * cost of sending the training data afterwards, which the other figures do not include.
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

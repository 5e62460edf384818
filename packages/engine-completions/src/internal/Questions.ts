import type { SampleRequest, Sequence, Tokenizer, SampledSequence } from "@inspo/engine"
import { numericSeed } from "@inspo/engine/Wire"
import { Effect, Result } from "effect"
import { type Connection, AskError } from "./Connection.ts"
import type { Arrived, Dialect } from "./Dialect.ts"

export type Questions = ReturnType<typeof make>

interface QuestionsOptions {
  readonly dialect: Dialect
  readonly model: string
  readonly tokenizer: Tokenizer
}

/** What a server is asked for; every answer is checked. */
export const make = (connection: Connection, { dialect, model, tokenizer }: QuestionsOptions) => ({
  /** `n` continuations of a prompt, under a seed that takes the place of the request's. */
  sample: (request: SampleRequest, n: number, seed: string) => {
    const asked = { ...request, n, seed: numericSeed(seed) }
    const { body, path } = dialect.sample(model, asked)
    const expected = { n, most: request.maxTokens, vocabulary: tokenizer.vocabularySize }
    return connection
      .post(path, body, (answer) =>
        Result.flatMap(dialect.readSamples(answer, asked), (sequences) => checked(sequences, expected)).pipe(
          Result.mapError((reason) => `request ${seed}: ${reason}`)
        )
      )
      .pipe(Effect.flatMap(Effect.forEach((sequence) => fill(connection, dialect, request.prompt, sequence))))
  },
  /** Log-probabilities of a response. */
  score: ({ ask, read }: NonNullable<Dialect["scoring"]>, sequence: Sequence) => {
    const { body, path } = ask(model, sequence)
    return Effect.map(
      connection.post(path, body, (answer) => read(answer, sequence)),
      (scores) => scores.slice(scores.length - sequence.response.length)
    )
  }
})

const checked = (
  sequences: ReadonlyArray<Arrived>,
  { most, n, vocabulary }: { readonly n: number; readonly most: number; readonly vocabulary: number }
): Result.Result<ReadonlyArray<Arrived>, string> => {
  if (sequences.length !== n) return Result.fail(`${sequences.length} sequences, expected ${n}`)
  for (const [index, { tokens }] of sequences.entries()) {
    if (tokens.length > most)
      return Result.fail(`sequence ${index} has ${tokens.length} tokens, expected at most ${most}`)
    const at = tokens.findIndex((token) => token < 0 || token >= vocabulary)
    if (at >= 0)
      return Result.fail(
        `token ${at} of sequence ${index} is ${tokens[at]}, expected 0 to ${vocabulary - 1}, the ids of the tokenizer`
      )
  }
  return Result.succeed(sequences)
}

/** A sequence with the log-probabilities that its answer left out, each asked for: among the likely tokens, then among all. */
const fill = Effect.fnUntraced(function* (
  connection: Connection,
  { name, next }: Dialect,
  prompt: ReadonlyArray<number>,
  { logprobs, stopReason, tokens }: Arrived
): Effect.fn.Return<SampledSequence, AskError> {
  const known: Array<number> = []
  for (const [at, token] of tokens.entries()) {
    let logprob = logprobs[at] ?? null
    for (const most of [likely, all]) {
      if (logprob !== null || next === undefined) break
      const { body, path } = next.ask([...prompt, ...tokens.slice(0, at)], most)
      logprob = yield* connection.post(path, body, (answer) => next.read(answer, token))
    }
    if (logprob === null)
      return yield* new AskError({
        path: name,
        status: null,
        reason: `no log-probability of token ${at}, ${token}, not even when asked for it`,
        unusable: true
      })
    known.push(logprob)
  }
  return { tokens, logprobs: known, stopReason }
})

const likely = 512
const all = 2 ** 30

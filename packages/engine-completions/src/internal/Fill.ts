import type { SampledSequence } from "@inspo/engine"
import { Effect } from "effect"
import { AskError, type Connection } from "./Connection.ts"
import type { Arrived, Dialect } from "./Dialect.ts"

/** A sequence with the log-probabilities that its answer left out, each asked for: among the likely tokens, then among all. */
export const fill = Effect.fnUntraced(function* (
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
      logprob = yield* connection.post(path, body, {}, (answer) => next.read(answer, token))
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

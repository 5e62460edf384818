/** An agent that is a function of this process. */
import { type Duration, Effect, Option, Schema } from "effect"
import { Answer, type Call, failed, type OutsideAgent, replyOf } from "./OutsideAgent.ts"

/** Besides prompt and case: what else a program reads, and a signal that aborts when nobody waits any more. */
export type Context = Omit<Call, "prompt" | "case"> & { readonly signal: AbortSignal }

export interface Options {
  readonly name: string
  /** Returns `{ output, score?, feedback?, usd? }`; anything else is the output. */
  readonly run: (prompt: Call["prompt"], input: Schema.Json, context: Context) => unknown
  readonly timeout: Duration.Input
}

export const make = ({ name, run, timeout }: Options): OutsideAgent => ({
  name,
  ask: Effect.fnUntraced(function* ({ case: input, prompt, ...rest }: Call) {
    const found = yield* Effect.tryPromise({
      try: async (signal) => run(prompt, input, { ...rest, signal }),
      catch: (cause) => failed(name, `failed: ${cause instanceof Error ? cause.message : String(cause)}`)
    }).pipe(
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.fail(failed(name, "did not return in time; raise the timeout"))
      })
    )
    const isAnswer = typeof found === "object" && found !== null && "output" in found
    const answer = decode(isAnswer ? found : { output: found })
    if (Option.isNone(answer))
      return yield* failed(
        name,
        "returned a value that is neither JSON nor { output, score?: 0 to 1, feedback?, usd? }"
      )
    return yield* replyOf(name, answer.value)
  })
})

const decode = Schema.decodeUnknownOption(Answer)

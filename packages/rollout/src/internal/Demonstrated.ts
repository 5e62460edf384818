import type { Tokenizer } from "@inspo/engine"
import type { Demonstration } from "../Demonstration.ts"
import type { Program } from "../Program.ts"

/**
 * A program whose turns are those of a demonstration: nothing is sampled, but tools are called. A turn is cut at the
 * limit of sampled ones; after the last turn the episode is over.
 */
export function* demonstrated(tokenizer: Tokenizer, turns: Demonstration, program: Program): Program {
  const left = turns.values()
  let next = program.next()
  while (next.done !== true) {
    if (next.value._tag === "Sample") {
      const turn = left.next()
      if (turn.done === true) return "turns-exhausted"
      const tokens = tokenizer.encode(turn.value).slice(0, next.value.request.maxTokens)
      const sequence = { tokens, logprobs: tokens.map(() => 0), stopReason: "stop" as const }
      next = program.next({ _tag: "Sampled", sequence })
    } else next = program.next(yield next.value)
  }
  return next.value
}

import { RandomStream } from "@inspo/domain"
import { evolve } from "@inspo/evolve"
import { Effect } from "effect"
import { measure } from "../Workload.ts"

/** Searches for a prompt whose agent answers at once, over 20,000 cases: what a call costs besides the agent. */
export const figures = Effect.gen(function* () {
  const { growth, level } = yield* grown([1000, 20_000])
  const { growth: further } = yield* grown([20_000, 100_000])
  return [level, growth, further]
})

const grown = (sizes: readonly [number, number]) =>
  measure({
    part: "evolve",
    name: "a search",
    items: "calls",
    sizes,
    bound: 1.2,
    rounds: 1,
    make: (calls) => Effect.succeed(Effect.promise(() => search(calls)))
  })

const cases = Array.from({ length: 20_000 }, (_, id) => ({ id }))

const search = (calls: number) => {
  let proposals = 0
  return evolve({
    prompt: "Answer the question.",
    cases,
    // Right by chance, and hardly more often under one prompt than under another.
    agent: (prompt, { id }) => (RandomStream.make(id, [prompt]).next() < 0.4 + prompt.length / 1000 ? 1 : 0),
    score: (output) => output,
    proposer: () => `<ins_1>Answer the question. Follow rule ${++proposals} of ${"x".repeat(proposals % 50)}.</ins_1>`,
    budget: { calls },
    minimalGain: 0.0001
  })
}

import { Array as Arr, Effect } from "effect"
import { type Host, InvalidStudy } from "./Host.ts"

export interface SimulationInput {
  readonly simulations: number
  readonly seed: number
  readonly out: string
}

/** Fails unless there is something to simulate. */
export const assertSimulations = ({ simulations }: SimulationInput): Effect.Effect<void, InvalidStudy> =>
  simulations < 1
    ? Effect.fail(new InvalidStudy({ problem: `--simulations is ${simulations}, expected 1 or more.` }))
    : Effect.void

/** Simulates `count` times one after the other, each with the next seed. */
export const simulateAll = <A>(count: number, seed: number, simulate: (seed: number) => A | Promise<A>) =>
  Effect.forEach(Arr.range(seed, seed + count - 1), (each) =>
    Effect.andThen(
      Effect.yieldNow,
      Effect.promise(async () => simulate(each))
    )
  )

/** Writes a result as JSON and as Markdown, and prints the Markdown. */
export const save = Effect.fnUntraced(function* <E, R>(host: Host<E, R>, out: string, result: object, text: string) {
  yield* host.write(`${out}/result.json`, `${JSON.stringify(result, null, 2)}\n`)
  yield* host.write(`${out}/result.md`, text)
  yield* host.print(["", text, `Results: ${out}`])
})

import { Array as Arr, Effect } from "effect"
import { type Host, InvalidStudy } from "./Host.ts"

export interface SimulationInput {
  readonly simulations: number
  readonly seed: number
  readonly out: string
}

/** A part of a bench: what is simulated for a seed, and what all of it says. */
export interface Cell<A, Row> {
  readonly label: string
  readonly simulate: (seed: number) => A | Promise<A>
  readonly row: (found: ReadonlyArray<A>) => Row
}

/** Simulates each cell with as many seeds as are asked for, one after the other, and saves a row for each. */
export const simulated = Effect.fn("Simulations.simulated")(function* <E, R, A, Row>(
  host: Host<E, R>,
  input: SimulationInput,
  bench: string,
  cells: ReadonlyArray<Cell<A, Row>>,
  markdown: (rows: ReadonlyArray<Row>, simulations: number) => string
) {
  yield* assertSimulations(input)
  const { seed, simulations } = input
  const rows = yield* Effect.forEach(cells, ({ label, row, simulate }) =>
    Effect.gen(function* () {
      yield* host.print([label])
      const found = yield* Effect.forEach(Arr.range(seed, seed + simulations - 1), (each) =>
        Effect.andThen(
          Effect.yieldNow,
          Effect.promise(async () => simulate(each))
        )
      )
      return row(found)
    })
  )
  const result = { bench, seed, simulations, rows }
  yield* save(host, input.out, result, markdown(rows, simulations))
  return result
})

/** Fails unless there is something to simulate. */
export const assertSimulations = ({ simulations }: SimulationInput): Effect.Effect<void, InvalidStudy> =>
  simulations < 1
    ? Effect.fail(new InvalidStudy({ problem: `--simulations is ${simulations}, expected 1 or more.` }))
    : Effect.void

/** Writes a result as JSON and as Markdown, and prints the Markdown. */
export const save = Effect.fnUntraced(function* <E, R>(host: Host<E, R>, out: string, result: object, text: string) {
  yield* host.write(`${out}/result.json`, `${JSON.stringify(result, null, 2)}\n`)
  yield* host.write(`${out}/result.md`, text)
  yield* host.print(["", text, `Results: ${out}`])
})

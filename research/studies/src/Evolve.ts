import { Array as Arr, Effect } from "effect"
import * as Claims from "./evolve/Claims.ts"
import { run } from "./evolve/EvolveRun.ts"
import { once } from "./evolve/Finished.ts"
import * as Outcome from "./evolve/Outcome.ts"
import * as Power from "./evolve/Power.ts"
import type { Budget } from "./evolve/Trial.ts"
import { worlds } from "./evolve/World.ts"
import { type EvolveResult, type Found, markdown, rowsOf, summaryOf } from "./EvolveResult.ts"
import type { Host } from "./Host.ts"
import { assertSimulations, save, type SimulationInput } from "./Simulations.ts"

/**
 * Runs `evolve()` for simulated agents whose prompts have known values: what the returned prompt is truly worth, how often it is
 * worse than the one that was given, and which gains some numbers of cases can show. Finished runs below `out` are read again, and so
 * are those of other optimizers.
 */
export const bench = Effect.fn("Evolve.bench")(function* <E, R>(host: Host<E, R>, input: SimulationInput) {
  yield* assertSimulations(input)
  const { out, seed, simulations } = input
  const searched = (cell: Claims.Cell, directory: string, each: number) => {
    const own = { ...cell.budget, seed: each }
    return once(host, Outcome, {
      file: `${out}/${directory}${Outcome.fileOf("inspo", cell.world, each)}`,
      key: Outcome.keyOf(host.code, cell.world, own),
      run: () => run(cell.world, own, cell.sentences)
    })
  }
  const found: Array<Found> = []
  for (const world of worlds) {
    yield* host.print([`${world.name}, ${world.headroom ? "with" : "without"} headroom`])
    for (const each of Arr.range(seed, seed + simulations - 1)) {
      found.push({ optimizer: "inspo", world, seed: each, outcome: yield* searched({ world, budget }, "", each) })
      for (const optimizer of Outcome.others) {
        const key = Outcome.keyOfRival(optimizer, world, { ...budget, seed: each })
        const outcome = Outcome.read(yield* host.read(`${out}/${Outcome.fileOf(optimizer, world, each)}`), key)
        if (outcome !== null) found.push({ optimizer, world, seed: each, outcome })
      }
    }
  }
  yield* host.print(["What cases can show"])
  const shown = yield* Effect.forEach(Power.cells(2 * simulations, seed), (cell) =>
    Effect.map(
      once(host, Power, {
        file: `${out}/${Power.fileOf(cell)}`,
        key: Power.keyOf(host.code, cell),
        run: () => Power.search(cell)
      }),
      (better) => Power.shownOf(cell, better)
    )
  )
  yield* host.print(["What is claimed"])
  const claims = yield* Effect.forEach(Claims.cells, (cell) =>
    Effect.map(
      Effect.forEach(Arr.range(seed, seed + 2 * simulations - 1), (each) =>
        searched(cell, Claims.directoryOf(cell), each)
      ),
      (outcomes) => Claims.claimsOf(cell, outcomes)
    )
  )
  const summary = summaryOf(found)
  const result: EvolveResult = { bench: "evolve", seed, ...budget, rows: rowsOf(found), summary, shown, claims }
  yield* save(host, out, result, markdown(result))
  return result
})

/** What each run has, at which optimizers are compared. */
export const budget: Omit<Budget, "seed"> = { calls: 300, cases: 120 }

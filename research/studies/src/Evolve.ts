import { Array as Arr, Effect } from "effect"
import * as Claims from "./evolve/Claims.ts"
import { run } from "./evolve/EvolveRun.ts"
import type { Finished } from "./evolve/Finished.ts"
import * as Outcome from "./evolve/Outcome.ts"
import * as Power from "./evolve/Power.ts"
import type { Budget } from "./evolve/Trial.ts"
import { worlds } from "./evolve/World.ts"
import { type EvolveResult, markdown, rowsOf, summaryOf } from "./EvolveResult.ts"
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
  const found: Array<Parameters<typeof rowsOf>[0][number]> = []
  for (const world of worlds) {
    yield* host.print([`${world.name}, ${world.headroom ? "with" : "without"} headroom`])
    for (const each of Arr.range(seed, seed + simulations - 1))
      for (const optimizer of Outcome.optimizers) {
        const own = { ...budget, seed: each }
        const file = `${out}/${Outcome.fileOf(optimizer, world, each)}`
        const key =
          optimizer === "inspo" ? Outcome.keyOf(host.code, world, own) : Outcome.keyOfRival(optimizer, world, own)
        const known = yield* finished(host, file, key, Outcome)
        if (known !== null) found.push({ optimizer, world, seed: each, outcome: known })
        if (known !== null || optimizer !== "inspo") continue
        const outcome = yield* Effect.promise(() => run(world, own))
        yield* host.write(file, Outcome.write(key, outcome))
        found.push({ optimizer, world, seed: each, outcome })
      }
  }
  yield* host.print(["What cases can show"])
  const cells = Power.budgets.flatMap((each) =>
    Power.gains.map((gain): Power.Cell => ({ budget: each, gain, searches: 2 * simulations, seed }))
  )
  const shown = yield* Effect.forEach(cells, (cell) =>
    Effect.map(better(host, out, cell), (count) => Power.shownOf(cell, count))
  )
  yield* host.print(["What is claimed"])
  const claims = yield* Effect.forEach(Claims.cells, (cell) =>
    Effect.map(
      Effect.forEach(Arr.range(seed, seed + 2 * simulations - 1), (each) => searched(host, out, cell, each)),
      (outcomes) => Claims.claimsOf(cell, outcomes)
    )
  )
  const rows = rowsOf(found)
  const result: EvolveResult = {
    bench: "evolve",
    seed,
    ...budget,
    rows,
    summary: summaryOf(found),
    shown,
    claims
  }
  yield* save(host, out, result, markdown(result))
  return result
})

/** A search of a cell of claims: by its file, if there is one. */
const searched = Effect.fnUntraced(function* <E, R>(host: Host<E, R>, out: string, cell: Claims.Cell, seed: number) {
  const own = { ...cell.budget, seed }
  const file = `${out}/${Claims.directoryOf(cell)}${Outcome.fileOf("inspo", cell.world, seed)}`
  const key = Outcome.keyOf(host.code, cell.world, own)
  const known = yield* finished(host, file, key, Outcome)
  if (known !== null) return known
  const outcome = yield* Effect.promise(() => run(cell.world, own, cell.sentences))
  yield* host.write(file, Outcome.write(key, outcome))
  return outcome
})

/** The outcome in a file; null if there is none with this key. */
const finished = <E, R, A>(host: Host<E, R>, file: string, key: string, { read }: Pick<Finished<A>, "read">) =>
  Effect.map(host.read(file), (text) => (text === null ? null : read(text, key)))

/** How many searches of a cell say `better`: by its file, if there is one. */
const better = Effect.fnUntraced(function* <E, R>(host: Host<E, R>, out: string, cell: Power.Cell) {
  const file = `${out}/${Power.fileOf(cell)}`
  const key = Power.keyOf(host.code, cell)
  const known = yield* finished(host, file, key, Power)
  if (known !== null) return known
  const count = yield* Effect.promise(() => Power.search(cell))
  yield* host.write(file, Power.write(key, count))
  return count
})

/** What each run has, at which optimizers are compared. */
export const budget: Omit<Budget, "seed"> = { calls: 300, cases: 120 }

/** How often `evolve()` shows that a prompt is better which is better by a known gain, by the number of cases. */
import { Array as Arr, Schema } from "effect"
import { Exact } from "@inspo/statistics"
import { run } from "./EvolveRun.ts"
import * as Finished from "./Finished.ts"
import { gainOf } from "./Trial.ts"
import { bank, plain, seedPrompt, type World } from "./World.ts"

export interface Shown {
  readonly cases: number
  readonly calls: number
  readonly gain: number
  readonly shown: Exact.Proportion
}

/** What is simulated: with so many calls for each case. */
export const budgets: ReadonlyArray<{ readonly cases: number; readonly calls: number }> = [20, 60, 200].map(
  (cases) => ({ cases, calls: 5 * cases })
)
export const gains: ReadonlyArray<number> = [0.1, 0.2, 0.3, 0.4]

/** So many searches with a budget, for a prompt that is better by a gain. */
export interface Cell {
  readonly budget: (typeof budgets)[number]
  readonly gain: number
  readonly searches: number
  readonly seed: number
}

export const cells = (searches: number, seed: number): ReadonlyArray<Cell> =>
  budgets.flatMap((budget) => gains.map((gain) => ({ budget, gain, searches, seed })))

/** The file of a cell, below the directory of the results. */
export const fileOf = ({ budget, gain }: Cell): string => `cases/${budget.cases}-${Math.round(100 * gain)}.json`

/** What a cell depends on. A file with another key is not used. */
export const keyOf = (code: string, cell: Cell): string => JSON.stringify([code, cell])

/** The file holds how many searches say `better`. */
export const { read, write } = Finished.make(Schema.Int)

/** How many searches say `better`. */
export const search = async ({ budget, gain, searches, seed }: Cell): Promise<number> => {
  const world = worldOf(gain)
  let better = 0
  for (const each of Arr.range(seed, seed + searches - 1))
    if ((await run(world, { ...budget, seed: each }, [clause])).verdict === "better") better++
  return better
}

export const shownOf = ({ budget, gain, searches }: Cell, better: number): Shown => ({
  ...budget,
  gain,
  shown: Exact.proportion(better, searches)
})

const [clause = ""] = bank

/** An agent that succeeds in four of ten cases, for which one clause is worth a gain. */
const worldOf = (gain: number): World => {
  const withEffect = (effect: number): World => ({
    ...plain,
    name: "one clause",
    headroom: true,
    base: -0.5,
    effects: [effect]
  })
  const prompt = `${seedPrompt} ${clause}`
  let [low, high] = [0, 20]
  for (let halving = 0; halving < 40; halving++) {
    const middle = (low + high) / 2
    if (gainOf(withEffect(middle), prompt) < gain) low = middle
    else high = middle
  }
  return withEffect(high)
}

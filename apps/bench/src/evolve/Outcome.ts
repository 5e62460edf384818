/** The true result of one run of an optimizer, as a file. */
import { Schema } from "effect"
import * as Finished from "./Finished.ts"
import type * as Trial from "./Trial.ts"
import type { World } from "./World.ts"

export const Outcome = Schema.Struct({
  /** Null for optimizers that return a prompt without a verdict. */
  verdict: Schema.NullOr(Schema.Literals(["better", "no-headroom", "undecided"])),
  prompt: Schema.String,
  /** The true gain of the returned prompt over the original. */
  gain: Schema.Finite,
  /** The true gain of the prompt that was tested; null if none was. */
  finalist: Schema.NullOr(Schema.Finite),
  calls: Schema.Int
})
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {}

/** The optimizers that are compared; the first is ours, and the programs of the others are in `rivals/`. */
export const optimizers = ["inspo", "gepa", "dspy-gepa", "dspy-miprov2", "dspy-copro", "ax"] as const
export type Optimizer = (typeof optimizers)[number]

/** The file of a run, below the directory of the results. */
export const fileOf = (optimizer: Optimizer, { headroom, name }: World, seed: number): string =>
  `${optimizer}/${name.replaceAll(" ", "-")}${headroom ? "" : "-no-headroom"}-${seed}.json`

/** What a run depends on: the optimizer or its code, the agent and the budget. A file with another key is not used. */
export const keyOf = (optimizer: string, world: World, budget: Trial.Budget): string =>
  JSON.stringify([optimizer, world, budget])

export const { read, write } = Finished.make(Outcome)

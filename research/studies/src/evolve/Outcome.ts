/** The true result of one run of an optimizer, as a file. */
import { Schema, Struct } from "effect"
import * as Finished from "./Finished.ts"
import { type Rival, rivals } from "./Rivals.ts"
import type * as Trial from "./Trial.ts"
import type { World } from "./World.ts"

export const Outcome = Schema.Struct({
  /** Null for optimizers that return a prompt without a verdict. */
  verdict: Schema.NullOr(Schema.Literals(["better", "shorter", "cheaper", "no-worse", "no-headroom", "undecided"])),
  prompt: Schema.String,
  /** The true gain of the returned prompt over the original. */
  gain: Schema.Finite,
  /** The true gain of the prompt that was tested; null if none was. */
  finalist: Schema.NullOr(Schema.Finite),
  /** Whether the interval of the test holds the true gain of that prompt; null if none was tested. */
  covered: Schema.NullOr(Schema.Boolean),
  /** The largest true gain of a prompt that was tried; null for optimizers that do not report it. */
  tried: Schema.NullOr(Schema.Finite),
  calls: Schema.Int,
  /** Requests to the proposer, and the prompts that it wrote in answer. */
  requests: Schema.Int,
  candidates: Schema.Int
})
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {}

export type Optimizer = "inspo" | Rival
/** The optimizers that ours is compared with; their programs are in `rivals/`. */
export const others: ReadonlyArray<Rival> = Struct.keys(rivals)

/** The file of a run, below the directory of the results. */
export const fileOf = (optimizer: Optimizer, { headroom, name }: World, seed: number): string =>
  `${optimizer}/${name.replaceAll(" ", "-")}${headroom ? "" : "-no-headroom"}-${seed}.json`

/** What a run of ours depends on: the code, the agent and the budget. A file with another key is not used. */
export const keyOf = (code: string, world: World, budget: Trial.Budget): string => JSON.stringify([code, world, budget])

/** The same for another optimizer: its settings instead of the code. */
export const keyOfRival = (rival: Rival, world: World, budget: Trial.Budget): string =>
  JSON.stringify([rival, rivals[rival].chosen, world, budget])

export const { read, write } = Finished.make(Outcome)

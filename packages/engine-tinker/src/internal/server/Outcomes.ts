import { Exit } from "effect"
import type * as Wire from "../../Wire.ts"
import type { Refusal } from "./Refusal.ts"

/** What a future holds; samples and losses can travel as protobuf. */
export type Outcome =
  | { readonly _tag: "Json"; readonly value: object }
  | { readonly _tag: "Samples"; readonly value: Wire.SampleResponse }
  | { readonly _tag: "Losses"; readonly value: Wire.ForwardBackwardOutput }

export const json = (value: object): Outcome => ({ _tag: "Json", value })

/** How a future ended; with its slot, where it is to be begun again once its outcome is kept no longer. */
interface Settled {
  readonly exit: Exit.Exit<Outcome, Refusal>
  readonly slot: string | null
}

export type Outcomes = ReturnType<typeof make>

/** How many are kept at most, and how many numbers in them together; the very latest is kept whatever its size. */
export interface Retention {
  readonly outcomes: number
  readonly numbers: number
}

/** The latest outcomes, which are kept for clients that ask again. */
export const make = (most: Retention) => {
  const kept = new Map<string, Settled & { readonly size: number }>()
  let numbers = 0
  return {
    get: (id: string): Settled | undefined => kept.get(id),
    /** Keeps an outcome, and returns the slots of those that made room for it. */
    keep: (id: string, settled: Settled): ReadonlyArray<string> => {
      const size = Exit.isSuccess(settled.exit) ? sizeOf(settled.exit.value) : 0
      kept.set(id, { ...settled, size })
      numbers += size
      const freed: Array<string> = []
      for (const [old, { size, slot }] of kept) {
        if (old === id || (kept.size <= most.outcomes && numbers <= most.numbers)) break
        kept.delete(old)
        numbers -= size
        if (slot !== null) freed.push(slot)
      }
      return freed
    }
  }
}

/** The numbers of an outcome, in which nearly all of its memory is. */
const sizeOf = (outcome: Outcome): number => {
  switch (outcome._tag) {
    case "Json":
      return 1
    case "Samples":
      return outcome.value.sequences.reduce(
        (total, { tokens }) => total + 2 * tokens.length,
        outcome.value.prompt_logprobs?.length ?? 0
      )
    case "Losses":
      return outcome.value.loss_fn_outputs.reduce(
        (total, output) => total + Object.values(output).reduce((sum, { data }) => sum + data.length, 0),
        0
      )
  }
}

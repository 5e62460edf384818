/** How a budget of calls and a number of cases are divided. */
import type { Instruction } from "@inspo/domain"
import { RandomStream } from "@inspo/domain"
import { refuse } from "@inspo/domain/InvalidInput"

/**
 * `search` and `test` are indices of cases; only the first are ever shown to the proposer. A case of `search` is asked in this
 * order by every prompt, so that prompts share as many cases as possible.
 */
export interface Setup {
  readonly prompt: Instruction.Content
  readonly randomSeed: number
  readonly calls: number
  /** The most that everything may cost in US dollars; null for no limit. */
  readonly usd: number | null
  readonly minimalGain: number
  readonly search: ReadonlyArray<number>
  readonly test: ReadonlyArray<number>
  /** The most prompts that are compared at a time. */
  readonly size: number
  /** The cases of the original prompt before anything is proposed. */
  readonly opening: number
  /** Calls of a round of search. */
  readonly round: number
}

export interface Options extends Pick<Setup, "prompt" | "randomSeed" | "calls" | "usd" | "minimalGain"> {
  readonly cases: number
}

/** Throws `InvalidInput` on a budget or a number of cases with which no prompt can be compared. */
export const make = ({ calls, cases, minimalGain, prompt, randomSeed, usd }: Options): Setup => {
  if (cases < leastCases)
    refuse({
      where,
      field: "cases",
      value: cases,
      expected: `at least ${leastCases} different ones: half find a prompt, half test it`
    })
  if (!(Number.isSafeInteger(calls) && calls >= leastCalls))
    refuse({ where, field: "budget.calls", value: calls, expected: `a whole number of at least ${leastCalls}` })
  if (usd !== null && !(usd > 0 && usd < Infinity))
    refuse({ where, field: "budget.usd", value: usd, expected: "US dollars above 0, or none for no limit" })
  if (!(minimalGain > 0 && minimalGain < 1))
    refuse({ where, field: "minimalGain", value: minimalGain, expected: "a gain above 0 and below 1, such as 0.1" })
  const order = RandomStream.make(randomSeed, ["cases"]).shuffle(Array.from({ length: cases }, (_, index) => index))
  const test = Math.min(Math.floor(cases / 2), Math.floor((testShare * calls) / 2))
  const rest = calls - 2 * test
  return {
    prompt,
    randomSeed,
    calls,
    usd,
    minimalGain,
    search: order.slice(test),
    test: order.slice(0, test),
    size: 6,
    opening: Math.min(cases - test, Math.max(3, Math.floor(rest / 20))),
    round: 10
  }
}

/** Calls between two evolutions, of a search with so many. */
export const every = (calls: number): number => Math.min(60, Math.max(10, Math.floor(calls / 3)))

const where = "evolve"
const leastCases = 6
const leastCalls = 20
/** The share of the budget that compares the finalist with the original at the end. */
export const testShare = 0.35

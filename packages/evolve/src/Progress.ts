/** Where a search is, after each event. */
import { Instruction } from "@inspo/domain"
import { HashSet } from "effect"
import { Difference, type Population } from "@inspo/population"
import type { Progress } from "./Options.ts"
import * as Search from "./Search.ts"

/** Computes the gain once for events that do not change it. */
export const make = (): ((state: Search.State) => Progress) => {
  let known: Known | null = null
  return (state) => {
    const { population } = state.evolution
    if (known?.population !== population) known = { population, gain: gainOf(state) }
    return of(state, known.gain)
  }
}

interface Known extends Pick<Progress, "gain"> {
  readonly population: Population.Population
}

const gainOf = (state: Search.State): number | null => {
  const leader = Search.leaderOf(state)
  if (leader === Search.original) return null
  return Difference.between(state.evolution.population, leader, Search.original)?.mean ?? null
}

const of = (state: Search.State, gain: Progress["gain"]): Progress => {
  const leader = Search.leaderOf(state)
  return {
    phase: phaseOf(state),
    calls: state.made,
    budget: state.setup.calls,
    usd: state.usd,
    lost: state.lost,
    prompts: state.prompts.length,
    leader: Instruction.contentOf(Search.promptOf(state, leader)),
    gain
  }
}

export const phaseOf = (state: Search.State): Progress["phase"] => {
  const { ended, isTested, pending } = state
  if (ended === null) return "search"
  return ended.finalist === null || (isTested && HashSet.size(pending) === 0) ? "done" : "test"
}

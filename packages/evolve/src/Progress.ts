/** Where a search is, after each event. */
import { Instruction } from "@inspo/domain"
import { Difference } from "@inspo/population"
import type { Progress } from "./Options.ts"
import * as Search from "./Search.ts"

export const of = (state: Search.State): Progress => {
  const leader = Search.leaderOf(state)
  const between = Difference.between(state.evolution.population, leader, Search.original)
  return {
    phase: phaseOf(state),
    calls: state.made,
    budget: state.setup.calls,
    usd: state.usd,
    lost: state.lost,
    prompts: state.prompts.length,
    leader: Instruction.contentOf(Search.promptOf(state, leader)),
    gain: leader === Search.original ? null : (between?.mean ?? null)
  }
}

export const phaseOf = (state: Search.State): Progress["phase"] => {
  const { ended, isTested } = state
  if (ended === null) return "search"
  return ended.finalist === null || (isTested && Search.unscored(state).length === 0) ? "done" : "test"
}

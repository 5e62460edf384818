/** Adds the evidence of a unit of time. */
import type { Population } from "@inspo/population"
import { type EvolutionState, type Group, isAlive } from "./State.ts"

/**
 * The state after the groups of one unit of time, `step`. Groups of instructions that are not members change nothing. Throws
 * `InvalidInput` on a unit that does not come after the last one, and on a reward outside [0, 1].
 */
export const observe = <S extends EvolutionState>(
  valuation: Pick<Population.Interface, "observe">,
  state: S,
  step: number,
  groups: ReadonlyArray<Group>
): S => ({
  ...state,
  population: valuation.observe(
    state.population,
    step,
    groups
      .filter(
        ({ instruction, missing, rewards }) => rewards.length + missing > 0 && isAlive(state.population, instruction)
      )
      .map(({ instruction, ...group }) => ({ ...group, instructionId: instruction }))
  ),
  newcomers: []
})

/** Which members are shown to break a guardrail. */
import type { Instruction } from "@inspo/domain"
import * as Guardrails from "../Guardrails.ts"
import { type Broken, isPaused, statsOf } from "../Learning.ts"
import type { State } from "../State.ts"

/** The guardrail that a member breaks by all that is known of it; null if it is not shown to break one. */
export const brokenIn = (state: State, id: Instruction.InstructionId): Broken | null => {
  const { guardrails, selection } = state.settings
  const { numbers: closed = {} } = statsOf(state.learning, id)
  const tallies = state.cohorts.reduce((all, { numbers }) => Guardrails.added(all, numbers[id]), closed)
  return Guardrails.brokenBy(guardrails, tallies, selection.risk)
}

/** The first member that is shown to break a guardrail, and was not paused before: never the seed, nor the last one that is leased. */
export const due = (state: State): { readonly id: Instruction.InstructionId; readonly broken: Broken } | null => {
  const { learning, settings } = state
  if (settings.guardrails.length === 0) return null
  const leased = learning.population.members
    .map(({ instruction }) => instruction.id)
    .filter((id) => !isPaused(learning.stats, id))
  if (leased.length < 2) return null
  for (const id of leased) {
    const broken = id === learning.seed ? null : brokenIn(state, id)
    if (broken !== null) return { id, broken }
  }
  return null
}

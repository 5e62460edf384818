/** The decisions between two cohorts: those of evolution, and then the incumbent. */
import type { Instruction } from "@inspo/domain"
import { Comparison, Population } from "@inspo/population"
import * as Evolution from "@inspo/evolution"
import { Conclude, isAlive } from "@inspo/evolution"
import type { EventOf, PopulationEvent } from "../Event.ts"
import { contentOfMember, type Incumbent, instructionOf, statsOf, isPaused } from "../Learning.ts"
import type { State } from "../State.ts"
import * as Losses from "./Losses.ts"
import type { Strategies } from "../Strategies.ts"

/** The decision that is due after a cohort, until there is none. */
export const decide = (strategies: Strategies, state: State): PopulationEvent | null => {
  const { isFrozen, learning } = state
  if (learning.due === "Conclude") return conclude(state)
  // Most commands: nothing is computed for them.
  if (learning.due === "Nothing" && (isFrozen || !Evolution.isIn(learning.evolution, "Proposed"))) return null
  return Evolution.decide(context(strategies, state), { ...learning, population: decisive(state) })
}

/**
 * The population with the evidence that decides: none while the environment fails more often under some members than under others. The
 * samples that are left of these may be the easier ones.
 */
const decisive = (state: State): Population.Contents => {
  const { population } = state.learning
  return Losses.ofFailures(state) === null
    ? population
    : { ...population, comparison: Comparison.withoutEvidence(population.comparison) }
}

/** What evolution needs to know of a population to decide. */
export const context = (strategies: Strategies, state: State): Evolution.DecisionContext => {
  const { learning, settings } = state
  return {
    strategies,
    values: strategies.valuation.values(learning.population),
    settings,
    protectedIds: protectedIds(state),
    barredIds: new Set(Population.ids(learning.population).filter((id) => isPaused(learning.stats, id))),
    generationOf: (id) => instructionOf(learning, id).generation,
    verification: {
      asks: false,
      approvals: settings.approval === "by-hand" ? learning.reviews : learning.reviews.map((review) => review ?? true)
    }
  }
}

/** After which cohorts decisions are due. */
export const schedule = ({ isFrozen, settings }: State): Evolution.Schedule.Schedule => ({
  ...Evolution.Schedule.ofSettings(settings),
  isPaused: isFrozen
})

/** Members that no rule may drop: pinned ones, and online the seed, which is the control. */
const protectedIds = ({ learning, settings }: State): ReadonlySet<Instruction.InstructionId> =>
  new Set([
    ...learning.population.members
      .map(({ instruction }) => instruction.id)
      .filter((id) => statsOf(learning, id).isPinned),
    ...(settings.profile === "online" ? [learning.seed] : [])
  ])

const conclude = (state: State): EventOf<"Concluded"> => {
  const { population, seed, ...learning } = state.learning
  const proven = provenOf(state)
  return {
    _tag: "Concluded",
    incumbent: incumbentOf(state, proven),
    proven,
    established: population.members
      .map(({ instruction }) => instruction.id)
      .filter((id) => statsOf(learning, id).isNewcomer && Conclude.interval(population, id, seed) !== null)
  }
}

/** The members that were ever better than the seed while it was certainly not the best, or once it left, than an incumbent that was. */
const provenOf = (state: State): ReadonlyArray<Instruction.InstructionId> => {
  const { incumbent, proven, seed } = state.learning
  const population = decisive(state)
  const control = incumbent.why === "better than the seed" && !isAlive(population, seed) ? incumbent.id : seed
  const better = Conclude.anytime(population, control, state.settings.selection.risk)
  return Population.ids(population).filter(
    (id) => (proven.includes(id) || better.includes(id)) && !isPaused(state.learning.stats, id)
  )
}

/** The seed until a member is better, then the best of those. Unchanged while the environment fails more often under some members. */
const incumbentOf = (state: State, proven: ReadonlyArray<Instruction.InstructionId>): Incumbent => {
  const { learning } = state
  const { incumbent, population, seed } = learning
  const known = (id: Instruction.InstructionId, why: Incumbent["why"]): Incumbent => ({
    id,
    content: contentOfMember(learning, id),
    why
  })
  const isProven = incumbent.why === "better than the seed"
  const isComparable = Losses.ofFailures(state) === null
  const next = Conclude.bestAmong(population, isComparable ? proven : proven.filter((id) => id === incumbent.id))
  if (isAlive(population, seed))
    return next !== undefined
      ? known(next, "better than the seed")
      : isProven
        ? incumbent
        : known(seed, "nothing separates")
  const best = isProven && next !== undefined ? next : Population.incumbent(population)?.instruction.id
  return best === undefined || (!isProven && incumbent.why !== "the seed was pruned as worse")
    ? { ...incumbent, why: "the seed left" }
    : known(best, incumbent.why)
}

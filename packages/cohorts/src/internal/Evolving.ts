/** The decisions between two cohorts: those of evolution, and then the incumbent. */
import type { InstructionId } from "@inspo/domain/Instruction"
import * as Evolution from "@inspo/evolution"
import { isAlive } from "@inspo/evolution/State"
import * as Difference from "@inspo/population/Difference"
import { incumbent as bestOf } from "@inspo/population/Population"
import { doubtsOf } from "@inspo/successive-halving/EvidencePruning"
import type { EventOf, PopulationEvent } from "../Event.ts"
import { contentOfMember, type Incumbent, instructionOf, statsOf } from "../Learning.ts"
import type { State } from "../State.ts"
import type { Strategies } from "../Strategies.ts"

/** The decision that is due after a cohort, until there is none. */
export const decide = (strategies: Strategies, state: State): PopulationEvent | null => {
  const { isFrozen, learning } = state
  if (learning.due === "Conclude") return conclude(state)
  return isFrozen && learning.due === "Nothing" ? null : Evolution.decide(context(strategies, state), learning)
}

/** What evolution needs to know of a population to decide. */
export const context = (strategies: Strategies, state: State): Evolution.DecisionContext => {
  const { learning, settings } = state
  return {
    strategies,
    values: strategies.valuation.values(learning.population),
    settings,
    protectedIds: protectedIds(state),
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
const protectedIds = ({ learning, settings }: State): ReadonlySet<InstructionId> =>
  new Set([
    ...learning.population.members
      .map(({ instruction }) => instruction.id)
      .filter((id) => statsOf(learning, id).isPinned),
    ...(settings.profile === "online" ? [learning.seed] : [])
  ])

const conclude = (state: State): EventOf<"Concluded"> => {
  const { population, seed, ...learning } = state.learning
  return {
    _tag: "Concluded",
    incumbent: incumbentOf(state),
    established: population.members
      .map(({ instruction }) => instruction.id)
      .filter((id) => statsOf(learning, id).isNewcomer && (Difference.between(population, id, seed)?.lower ?? -1) > 0)
  }
}

/** The best member once the seed is certainly not the best, at the risk δ, also after the seed has left; the seed until then. */
const incumbentOf = ({ learning, settings }: State): Incumbent => {
  const { incumbent, population, seed } = learning
  const best = bestOf(population)?.instruction.id
  const known = (id: InstructionId, why: Incumbent["why"]): Incumbent => ({
    id,
    content: contentOfMember(learning, id),
    why
  })
  const { why } = incumbent
  if (isAlive(population, seed)) {
    const isBeaten = why === "better than the seed" || (doubtsOf(population).get(seed) ?? 1) <= settings.risk
    return best === undefined || best === seed || !isBeaten
      ? known(seed, "nothing separates")
      : known(best, "better than the seed")
  }
  if (best === undefined || (why !== "better than the seed" && why !== "the seed was pruned as worse"))
    return { ...incumbent, why: "the seed left" }
  return known(best, why)
}

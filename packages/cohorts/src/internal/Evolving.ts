/** What is decided between two cohorts: what evolution decides, and then who is the incumbent. */
import { contentOf, type Content, type InstructionId } from "@inspo/domain/Instruction"
import * as Evolution from "@inspo/evolution"
import { candidateInstructions, type EvolutionState, isAlive } from "@inspo/evolution/State"
import * as Difference from "@inspo/population/Difference"
import * as AnytimePruning from "@inspo/successive-halving/AnytimePruning"
import type * as Round from "@inspo/verification/Round"
import { Option } from "effect"
import type { EventOf, PopulationEvent } from "../Event.ts"
import { contentOfMember, type Incumbent, instructionOf, statsOf } from "../Learning.ts"
import type { Settings } from "../Settings.ts"
import type { State } from "../State.ts"
import type { Strategies } from "../Strategies.ts"

/** The decision that is due after a cohort, until there is none. */
export const decide = (strategies: Strategies, state: State): PopulationEvent | null => {
  const { isFrozen, learning } = state
  if (learning.due === "Conclude") return conclude(strategies, state)
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
      design: design(settings),
      isSplit: !settings.verification.paired,
      isLast: false,
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

/** How a paired trial is held. */
export const design = ({ verification }: Settings): Round.Design => ({
  questions: verification.samples,
  interim: verification.lookEvery,
  inlineVerification: true
})

/** What a candidate says that is tried in questions of its own; null for any other instruction. */
export const candidateContent = ({ evolution }: EvolutionState, id: InstructionId): Content | null => {
  const candidate = candidateInstructions(evolution).find((one) => one.id === id)
  return candidate === undefined ? null : contentOf(candidate)
}

const conclude = (strategies: Strategies, state: State): EventOf<"Concluded"> => {
  const { learning, settings } = state
  const { members } = learning.population
  const seed = members.find(({ instruction }) => instruction.id === learning.seed)
  return {
    _tag: "Concluded",
    incumbent: incumbentOf(strategies, state),
    established:
      seed === undefined
        ? []
        : members
            .filter(
              (member) =>
                statsOf(learning, member.instruction.id).isNewcomer &&
                Difference.exceeds(member, seed, { alpha: settings.risk, difference: 0 })
            )
            .map(({ instruction }) => instruction.id)
  }
}

/** The best of those that are known to be better than the seed; the seed where nobody is. */
const incumbentOf = (strategies: Strategies, { learning, settings }: State): Incumbent => {
  const { incumbent, population } = learning
  const known = (id: InstructionId, why: Incumbent["why"]): Incumbent => ({
    id,
    content: contentOfMember(learning, id),
    why
  })
  const best = (some: typeof population.members): InstructionId | undefined =>
    Option.getOrUndefined(strategies.valuation.best({ ...population, members: some }))?.instruction.id
  const seed = population.members.find(({ instruction }) => instruction.id === learning.seed)
  if (seed !== undefined) {
    const proven = population.members.filter(
      (member) => member !== seed && AnytimePruning.claim(population, member, seed) >= 1 / settings.risk
    )
    const first = best(proven)
    return first === undefined ? known(learning.seed, "nothing separates") : known(first, "better than the seed")
  }
  if (incumbent.id !== learning.seed && isAlive(population, incumbent.id)) return incumbent
  const first = best(population.members)
  const isBeaten = incumbent.why === "better than the seed" || incumbent.why === "the seed was pruned as worse"
  if (first === undefined || !isBeaten) return { ...incumbent, why: "the seed left" }
  return known(first, "the seed was pruned as worse")
}

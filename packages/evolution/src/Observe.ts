/** Adds the evidence of a unit of time. */
import { type Averaging, observe as observeRewards } from "@inspo/population/InstructionValue"
import { isReadonlyArrayNonEmpty } from "effect/Array"
import { candidateId, type EvolutionIn, type EvolutionState, type Group, isAlive, isIn } from "./State.ts"

/**
 * The state after the groups of one unit of time, `step`. Members are credited with those of `credited`, by default
 * `groups`; groups of other instructions change no value. Candidates are scored by `groups`. Throws `InvalidInput` on a
 * unit that does not come after the last one, and on a reward outside [0, 1].
 */
export const observe = <S extends EvolutionState>(
  averaging: Averaging,
  state: S,
  step: number,
  groups: ReadonlyArray<Group>,
  credited: ReadonlyArray<Group> = groups
): S => {
  const { evolution, population } = state
  const own = credited
    .filter(({ instruction, missing, rewards }) => rewards.length + missing > 0 && isAlive(population, instruction))
    .map(({ instruction, missing, rewards }) => ({ instructionId: instruction, rewards, missing }))
  return {
    ...state,
    population: observeRewards(averaging, population, step, own),
    newcomers: [],
    tried: isIn(evolution, "PairedTrial") ? triedOf(evolution, groups) : [],
    evolution: isIn(evolution, "TrafficSplit") ? { ...evolution, stage: scored(evolution.stage, groups) } : evolution
  }
}

const triedOf = (evolution: EvolutionIn<"PairedTrial">, groups: ReadonlyArray<Group>): ReadonlyArray<Group> => {
  const { parent, round } = evolution.stage
  const arms = new Set([parent, ...round.remaining.map((place) => candidateId(evolution, place))])
  return groups.filter(({ instruction }) => arms.has(instruction))
}

/** Groups of candidates, and of their parent in the units of time that had candidates, since the verification began. */
const scored = (
  stage: EvolutionIn<"TrafficSplit">["stage"],
  groups: ReadonlyArray<Group>
): EvolutionIn<"TrafficSplit">["stage"] => {
  const add = (id: Group["instruction"] | undefined, score: { readonly groups: number; readonly sum: number }) =>
    groups.reduce(
      (known, { instruction, rewards }) =>
        instruction === id && isReadonlyArrayNonEmpty(rewards)
          ? { groups: known.groups + 1, sum: known.sum + meanOf(rewards) }
          : known,
      score
    )
  const tried = new Set(stage.ids)
  return {
    ...stage,
    scores: stage.scores.map((score, place) => add(stage.ids[place], score)),
    parentScore: groups.some(({ instruction }) => tried.has(instruction))
      ? add(stage.parent, stage.parentScore)
      : stage.parentScore
  }
}

/** The mean of some rewards, of which there is at least one. */
export const meanOf = (rewards: ReadonlyArray<number>): number =>
  rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length

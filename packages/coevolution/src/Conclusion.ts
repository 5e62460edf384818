/** Which instruction a run returns, by the rules of `Conclude`: by value, or the seed without evidence by the interval (row 29). */
import { type Instruction, Invariant } from "@inspo/domain"
import { Conclude } from "@inspo/evolution"
import { Option } from "effect"
import type { Algorithm } from "./Algorithm.ts"
import type { Evidence, RunState } from "./RunState.ts"
import * as Strategies from "./Strategies.ts"

/**
 * `instruction` is the one to use, `best` is I*. `evidence` shows that I* is better than the seed, null without evidence.
 * `unproven` is I* if it is not the seed and there is no evidence for it, else null.
 */
export interface Conclusion {
  readonly instruction: Instruction.Instruction
  readonly best: Instruction.Instruction
  readonly evidence: Evidence | null
  readonly unproven: Instruction.InstructionId | null
}

/** The current conclusion. Without evidence it is the seed, unless `selection.instruction` always selects I*. */
export const conclude = (deciding: Strategies.Deciding, state: RunState): Conclusion => {
  const seed = Invariant.at(state.instructions, 0, "instruction")
  const best = bestInstruction(deciding, state)
  const evidence = best.id === seed.id ? null : state.evidence
  const isKept = evidence === null && deciding.algorithm.selection.instruction === "proven"
  return {
    instruction: isKept ? seed : best,
    best,
    evidence,
    unproven: evidence === null && best.id !== seed.id ? best.id : null
  }
}

/** I*: the best instruction of the current population. */
export const bestInstruction = (
  { strategies }: Pick<Strategies.Deciding, "strategies">,
  state: RunState
): Instruction.Instruction =>
  Option.getOrThrowWith(
    Conclude.value(strategies.valuation, state.population),
    () => new Invariant.InvariantBroken("every instruction of the population")
  )

/** The current I*, for reading from outside. None before the run begins, and where an unnamed strategy computes the values. */
export const leader = (
  algorithm: Algorithm,
  { population, strategies }: RunState
): Option.Option<Instruction.Instruction> => {
  const isForeign = Strategies.foreign(algorithm, strategies).some(({ part }) => part === "valuation")
  return isForeign ? Option.none() : Conclude.value(Strategies.ofAlgorithm(algorithm).valuation, population)
}

/** Which instruction a run returns, and the evidence that it is better than the seed (row 29). */
import { Instruction, Invariant, Trajectory } from "@inspo/domain"
import { Option, Schema } from "effect"
import type { Algorithm } from "./Algorithm.ts"
import { type Record, recordOf, type RunState } from "./RunState.ts"
import * as Strategies from "./Strategies.ts"

/**
 * A mean reward of `instruction` that is strictly above one of `rival`: either over both lifetimes, where the rival is the
 * seed, or on the questions that a verification asked both, where the rival is at least as good as the seed by the same measures.
 */
export const Evidence = Schema.Struct({
  kind: Schema.Literals(["lifetime", "verification"]),
  instruction: Instruction.InstructionId,
  mean: Trajectory.Reward,
  rival: Instruction.InstructionId,
  rivalMean: Trajectory.Reward
})
export interface Evidence extends Schema.Schema.Type<typeof Evidence> {}

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

/** The current conclusion. Without evidence it is the seed, unless `evaluation.instruction` always selects I*. */
export const conclude = (deciding: Strategies.Deciding, state: RunState): Conclusion => {
  const seed = Invariant.at(state.instructions, 0, "instruction")
  const best = bestInstruction(deciding, state)
  const evidence = evidenceFor(state, best.id)
  const isKept = evidence === null && deciding.algorithm.evaluation.instruction === "proven"
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
    strategies.valuation.best(state.population),
    () => new Invariant.InvariantBroken({ missing: "every instruction of the population" })
  ).instruction

/**
 * The current I*, for reading a run from outside. None before the run begins, and none if a strategy that the algorithm does
 * not name computes the values.
 */
export const leader = (
  algorithm: Algorithm,
  { population, strategies }: RunState
): Option.Option<Instruction.Instruction> => {
  const isForeign = Strategies.foreign(algorithm, strategies).some(({ part }) => part === "valuation")
  return isForeign
    ? Option.none()
    : Option.map(Strategies.ofAlgorithm(algorithm).valuation.best(population), ({ instruction }) => instruction)
}

/** The evidence that an instruction is better than the seed, or null. */
export const evidenceFor = (state: RunState, id: Instruction.InstructionId): Evidence | null => {
  const seed = Invariant.at(state.instructions, 0, "instruction")
  const comparison = compare(recordsOf(state), seed.id, id)
  return comparison === "equal" || comparison === "unknown" ? null : comparison
}

/** Compares an instruction with the seed: evidence that it is better, equal, or unknown. */
type Comparison = Evidence | "equal" | "unknown"

const compare = (
  records: ReadonlyMap<string, Record>,
  seed: Instruction.InstructionId,
  id: Instruction.InstructionId
): Comparison => {
  if (id === seed) return "equal"
  const { mean, verification } = Invariant.get(records, id, "the record")
  const { mean: rivalMean } = Invariant.get(records, seed, "the record")
  const isKnown = mean !== null && rivalMean !== null
  if (isKnown && isAbove(mean, rivalMean)) return { kind: "lifetime", instruction: id, mean, rival: seed, rivalMean }
  if (verification !== null && verification.rival !== null) {
    const { mean, rival } = verification
    const ofRival = compare(records, seed, rival.id)
    if (ofRival !== "unknown" && isAbove(mean, rival.mean))
      return { kind: "verification", instruction: id, mean, rival: rival.id, rivalMean: rival.mean }
    if (ofRival !== "unknown" && !isAbove(rival.mean, mean)) return ofRival
  }
  return isKnown && !isAbove(rivalMean, mean) ? "equal" : "unknown"
}

/** The records of all instructions, removed ones included. */
const recordsOf = ({ removed, population }: RunState): ReadonlyMap<string, Record> =>
  new Map([
    ...removed.map((one) => [one.id, one] as const),
    ...population.members.map((member) => [member.instruction.id, recordOf(member)] as const)
  ])

/** Means of the same rewards can differ by rounding. */
const isAbove = (a: number, b: number): boolean => a - b > 1e-9

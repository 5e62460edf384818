/** Which instruction to use from now on, and what shows that it is better than the seed (row 29). */
import { Instruction, Invariant, Trajectory } from "@inspo/domain"
import { Option, Schema } from "effect"
import type { Algorithm } from "./Algorithm.ts"
import { type Record, recordOf, type RunState } from "./RunState.ts"
import * as Strategies from "./Strategies.ts"

/**
 * A mean reward of `instruction` that lies strictly above one of `rival`: over the lifetimes of both, the rival being the
 * seed, or on the questions that a verification asked both, the rival being no worse than the seed by the same measures.
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
 * `instruction` is the one to use, `best` is I*. `evidence` shows I* to be better than the seed; null where nothing does.
 * `unproven` is I* where it is not the seed and nothing shows it to be better, else null.
 */
export interface Conclusion {
  readonly instruction: Instruction.Instruction
  readonly best: Instruction.Instruction
  readonly evidence: Evidence | null
  readonly unproven: Instruction.InstructionId | null
}

/** The conclusion as things stand. Without evidence the seed stays, unless `evaluation.instruction` asks for I* all the same. */
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

/** I*: the best instruction of the population as things stand. */
export const bestInstruction = (
  { strategies }: Pick<Strategies.Deciding, "strategies">,
  state: RunState
): Instruction.Instruction =>
  Option.getOrThrowWith(
    strategies.valuation.best(state.population),
    () => new Invariant.InvariantBroken({ missing: "every instruction of the population" })
  ).instruction

/**
 * I* as things stand, for those who only look at a run. None before the run begins, and none where the instructions are
 * valued by a strategy that the algorithm does not name.
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

/** What shows that an instruction is better than the seed; null where nothing does. */
export const evidenceFor = (state: RunState, id: Instruction.InstructionId): Evidence | null => {
  const seed = Invariant.at(state.instructions, 0, "instruction")
  const comparison = compare(recordsOf(state), seed.id, id)
  return comparison === "equal" || comparison === "unknown" ? null : comparison
}

/** How an instruction compares with the seed: shown to be better, as good, or neither. */
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

/** Of every instruction that ever lived. */
const recordsOf = ({ removed, population }: RunState): ReadonlyMap<string, Record> =>
  new Map([
    ...removed.map((one) => [one.id, one] as const),
    ...population.members.map((member) => [member.instruction.id, recordOf(member)] as const)
  ])

/** Means of the same rewards may differ by their rounding. */
const isAbove = (a: number, b: number): boolean => a - b > 1e-9

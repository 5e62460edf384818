/** Which instruction to use from now on, and what shows that it is better than the seed (row 29). */
import { Instruction, Invariant, Trajectory } from "@inspo/domain"
import { Option, Schema } from "effect"
import type { Setting } from "./Next.ts"
import { type Record, recordOf, type RunState } from "./RunState.ts"

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

/** `instruction` is the one to use, `best` is I*. `evidence` shows I* to be better than the seed; null where nothing does. */
export interface Conclusion {
  readonly instruction: Instruction.Instruction
  readonly best: Instruction.Instruction
  readonly evidence: Evidence | null
}

/** The conclusion as things stand. Without evidence the seed stays, unless `evaluation.instruction` asks for I* all the same. */
export const conclude = (setting: Pick<Setting, "config" | "policies">, state: RunState): Conclusion => {
  const seed = Invariant.at(state.instructions, 0, "instruction")
  const best = bestInstruction(setting, state)
  const standing = standingOf(recordsOf(state), seed.id, best.id)
  const evidence = standing === "equal" || standing === "unknown" ? null : standing
  const isKept = evidence === null && setting.config.evaluation.instruction === "proven"
  return { instruction: isKept ? seed : best, best, evidence }
}

/** I*: the best instruction of the population as things stand. */
export const bestInstruction = ({ policies }: Pick<Setting, "policies">, state: RunState): Instruction.Instruction =>
  Option.getOrThrowWith(
    policies.weighting.best(state.population),
    () => new Invariant.InvariantBroken({ missing: "every instruction of the population" })
  ).instruction

/** Where an instruction stands to the seed: shown to be better, as good, or neither. */
type Standing = Evidence | "equal" | "unknown"

const standingOf = (
  records: ReadonlyMap<string, Record>,
  seed: Instruction.InstructionId,
  id: Instruction.InstructionId
): Standing => {
  if (id === seed) return "equal"
  const { mean, verification } = Invariant.get(records, id, "the record")
  const { mean: rivalMean } = Invariant.get(records, seed, "the record")
  const isKnown = mean !== null && rivalMean !== null
  if (isKnown && isAbove(mean, rivalMean)) return { kind: "lifetime", instruction: id, mean, rival: seed, rivalMean }
  if (verification !== null && verification.rival !== null) {
    const { mean, rival } = verification
    const standing = standingOf(records, seed, rival.id)
    if (standing !== "unknown" && isAbove(mean, rival.mean))
      return { kind: "verification", instruction: id, mean, rival: rival.id, rivalMean: rival.mean }
    if (standing !== "unknown" && !isAbove(rival.mean, mean)) return standing
  }
  return isKnown && !isAbove(rivalMean, mean) ? "equal" : "unknown"
}

/** Of everyone who ever lived. */
const recordsOf = ({ departed, population }: RunState): ReadonlyMap<string, Record> =>
  new Map([
    ...departed.map((one) => [one.id, one] as const),
    ...population.members.map((member) => [member.instruction.id, recordOf(member)] as const)
  ])

/** Means of the same rewards may differ by their rounding. */
const isAbove = (a: number, b: number): boolean => a - b > 1e-9

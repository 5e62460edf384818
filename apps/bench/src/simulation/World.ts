/** A world in which the true reward of each instruction is constant and known. */
import { Array as Arr } from "effect"
import type { Instruction } from "@inspo/domain/Instruction"
import { InstructionId } from "@inspo/domain/Instruction"
import * as Invariant from "@inspo/domain/Invariant"
import * as RandomStream from "@inspo/domain/RandomStream"
import type { Observed } from "@inspo/population/InstructionValue"

/** The true rewards of the instructions, and the noise of a group. */
export interface World {
  /** The expected reward of each instruction, in [0, 1]. */
  readonly means: ReadonlyArray<number>
  /**
   * ρ, in [0, 1]: the correlation of two rewards of one group, which is how much the question decides. With this
   * probability a question is answered alike by all trajectories, else each is a draw of its own. The mean reward of a
   * group of G under an instruction worth m then has the variance m (1 − m) (ρ + (1 − ρ) / G).
   */
  readonly correlation: number
  /** G: trajectories per group. */
  readonly groupSize: number
}

/** The instructions of a world, in the order of `means`: `i0`, `i1`, … */
export const instructions = ({ means }: World): ReadonlyArray<Instruction> =>
  means.map((_, index) => ({
    id: instructionId(index),
    text: `instruction ${index}`,
    generation: 0,
    parent: null,
    origin: "variant",
    bornAt: 0
  }))

/** The instruction of highest expected reward, the first among equals. */
export const best = ({ means }: World): InstructionId => instructionId(means.indexOf(Math.max(...means)))

/** The rewards, 0 or 1, of one group for each assigned instruction. Drawn from the stream of the step. */
export const rollOut = (
  world: World,
  assignment: ReadonlyArray<InstructionId>,
  stream: { readonly seed: number; readonly step: number }
): ReadonlyArray<Observed> => {
  const meanOf = new Map(world.means.map((mean, index) => [instructionId(index), mean]))
  const { next } = RandomStream.make(stream.seed, ["rewards", stream.step])
  return assignment.map((instructionId) => {
    const mean = Invariant.get(meanOf, instructionId, "worth")
    const reward = () => (next() < mean ? 1 : 0)
    const alike = next() < world.correlation
    const first = reward()
    const others = Arr.makeBy(world.groupSize - 1, () => (alike ? first : reward()))
    return { instructionId, rewards: world.groupSize === 1 ? [first] : [first, ...others] }
  })
}

const instructionId = (index: number): InstructionId => InstructionId.make(`i${index}`)

/** Raw histories for the laws, and what Eq. 6 says about them when it is computed the slow way. */
import { Schema } from "effect"
import { Instruction } from "@inspo/domain"
import type { Population } from "@inspo/population"

/** Integer-like rewards, so that sums are exact in any order. */
const Rewards = Schema.NonEmptyArray(Schema.Literals([0, 1])).check(Schema.isMaxLength(4))

/** The groups of one step as (number of the instruction, rewards). */
export const Step = Schema.Array(Schema.Struct({ member: Schema.Literals([0, 1, 2, 3]), rewards: Rewards })).check(
  Schema.isMaxLength(5)
)
export type Step = typeof Step.Type

/** Step t is at index t - 1. */
export const History = Schema.Array(Step).check(Schema.isMaxLength(12))
export type History = typeof History.Type

export const Window = Schema.Literals([1, 2, 3, 5])

export const instruction = (index: number, fields: Partial<Instruction.Instruction> = {}): Instruction.Instruction => ({
  id: Instruction.InstructionId.make(`i${index}`),
  text: `instruction ${index}`,
  generation: 0,
  parent: null,
  origin: index === 0 ? "seed" : "variant",
  bornAt: 0,
  ...fields
})

/** The instructions that histories speak of. */
export const instructions: ReadonlyArray<Instruction.Instruction> = [0, 1, 2, 3].map((index) => instruction(index))

export const toGroups = (step: Step): ReadonlyArray<Population.Observed> =>
  step.map(({ member, rewards }) => ({ instructionId: Instruction.InstructionId.make(`i${member}`), rewards }))

export const mean = (values: ReadonlyArray<number>): number => {
  let sum = 0
  for (const value of values) sum += value
  return sum / values.length
}

/** r̄ of every step in which the instruction was observed. */
export const stepMeans = (
  history: ReadonlyArray<{ readonly step: number; readonly groups: Step }>,
  member: number
): ReadonlyArray<{ readonly step: number; readonly mean: number }> =>
  history.flatMap(({ step, groups }) => {
    const rewards = groups.filter((group) => group.member === member).flatMap((group) => group.rewards)
    return rewards.length === 0 ? [] : [{ step, mean: mean(rewards) }]
  })

/** What the answers so far say about the prompts. */
import type { Instruction } from "@inspo/domain"
import { Array as Arr } from "effect"
import { Difference, InstructionValue, Population } from "@inspo/population"
import type { Prior } from "@inspo/population/Comparison"
import { type Answered, caseId, type Missed } from "./Event.ts"

export type Outcome = Answered | Missed

/** The original, and the prompts that entered later, in their order. */
export type Prompts = Arr.NonEmptyReadonlyArray<Instruction.Instruction>

/**
 * Prompts compared on all answers. Answers stay true, since the agent is not trained: a newcomer is compared with what other prompts
 * answered before, so a case costs one call instead of two.
 */
export const population = (prompts: Prompts, answers: ReadonlyArray<Outcome>, step: number): Population.Population =>
  compared(prior, prompts, answers, step)

/** The gain of a prompt over the original, with its 95 % interval; null for the original. */
export interface Gain extends Difference.Difference {
  readonly prompt: Instruction.InstructionId
}

/** The gains of the prompts that were asked. */
export const gains = (prompts: Prompts, answers: ReadonlyArray<Outcome>, step: number): ReadonlyArray<Gain> => {
  const asked = new Set(answers.map(({ prompt }) => prompt))
  const everyone = compared(flat, prompts, answers, step)
  const [original, ...others] = prompts
  return others.flatMap(({ id: prompt }) => {
    const found = asked.has(prompt) ? Difference.between(everyone, prompt, original.id) : null
    return found === null ? [] : [{ prompt, ...found }]
  })
}

/** The mean score of each prompt over its answers; a missing one counts as 0. */
export const means = (answers: ReadonlyArray<Outcome>): ReadonlyMap<Instruction.InstructionId, number> => {
  const sums = new Map<Instruction.InstructionId, { sum: number; count: number }>()
  for (const answer of answers) {
    const known = sums.get(answer.prompt) ?? { sum: 0, count: 0 }
    sums.set(answer.prompt, {
      sum: known.sum + (answer._tag === "Answered" ? answer.score : 0),
      count: known.count + 1
    })
  }
  return new Map([...sums].map(([prompt, { count, sum }]) => [prompt, sum / count]))
}

const compared = (
  prior: Prior,
  [original, ...others]: Prompts,
  answers: ReadonlyArray<Outcome>,
  step: number
): Population.Population => {
  const entered = siblings(others).reduce(enter, Population.make([original], prior))
  const known = new Set(Population.ids(entered))
  const groups = groupsOf(answers.filter(({ prompt }) => known.has(prompt)))
  return groups.length === 0 ? entered : InstructionValue.observe(averaging, entered, step, groups)
}

/** Newcomers are expected to be about as good as their parent or, if that is gone, as the original. */
const enter = (
  before: Population.Population,
  [first, ...others]: Arr.NonEmptyReadonlyArray<Instruction.Instruction>
): Population.Population => {
  const parent = Population.ids(before).findIndex((id) => id === first.parent)
  return Population.add(
    { ...before, comparison: { ...before.comparison, incumbent: Math.max(0, parent) } },
    [first, ...others].map((instruction) => ({ instruction, verification: null }))
  )
}

/** Neighbours with the same parent enter together. */
const siblings = (
  instructions: ReadonlyArray<Instruction.Instruction>
): ReadonlyArray<Arr.NonEmptyReadonlyArray<Instruction.Instruction>> =>
  Arr.isReadonlyArrayNonEmpty(instructions)
    ? Arr.groupWith(instructions, (one, other) => one.parent === other.parent)
    : []

const groupsOf = (answers: ReadonlyArray<Outcome>): ReadonlyArray<InstructionValue.Observed> => {
  const groups = new Map<
    string,
    { instructionId: Instruction.InstructionId; question: string; rewards: Array<number>; missing: number }
  >()
  for (const answer of answers) {
    const key = `${answer.case} ${answer.prompt}`
    const group = groups.get(key) ?? {
      instructionId: answer.prompt,
      question: caseId(answer.case),
      rewards: [],
      missing: 0
    }
    if (answer._tag === "Answered") group.rewards.push(answer.score)
    else group.missing += 1
    groups.set(key, group)
  }
  return [...groups.values()]
}

const averaging = { window: Number.MAX_SAFE_INTEGER, span: "steps", average: "observed" } as const

/** What is reported is what the cases show, without an expectation. */
const flat: Prior = { spread: 1, newcomer: 0, deviation: 10 }

/** A prompt can change a score by tens of points, where instructions of a policy in training differ by a few. */
const prior: Prior = { spread: 0.04, newcomer: 0, deviation: 0.15 }

/** What the answers so far say about the prompts. */
import type { Instruction, Question } from "@inspo/domain"
import { Array as Arr } from "effect"
import { InstructionValue, Population } from "@inspo/population"
import type { Prior } from "@inspo/population/Comparison"
import { Bootstrap, Bounded } from "@inspo/statistics"
import { type Answered, caseId, type Missed } from "./Event.ts"

export type Outcome = Answered | Missed

/** The original, and the prompts that entered later, in their order. */
export type Prompts = Arr.NonEmptyReadonlyArray<Instruction.Instruction>

/**
 * Prompts compared on all answers. Answers stay true, since the agent is not trained: a newcomer is compared with what other prompts
 * answered before, so a case costs one call instead of two.
 */
export const population = (
  [original, ...others]: Prompts,
  answers: ReadonlyArray<Outcome>,
  step: number
): Population.Population => {
  const entered = siblings(others).reduce(enter, Population.make([original], prior))
  const known = new Set(Population.ids(entered))
  const groups = groupsOf(answers.filter(({ prompt }) => known.has(prompt)))
  return groups.length === 0 ? entered : InstructionValue.observe(averaging, entered, step, groups)
}

/** The gain of a prompt over the original on the cases that both were asked, with its 95 % interval; null without such a case. */
export interface Gain {
  readonly prompt: Instruction.InstructionId
  readonly mean: number
  readonly lower: number
  readonly upper: number
}

/** The gains of the prompts that were asked. They hold whatever missing scores would have been, and however often one looks. */
export const gains = (prompts: Prompts, answers: ReadonlyArray<Outcome>): ReadonlyArray<Gain> => {
  const pairs = pairsOf(prompts[0], answers)
  return prompts.slice(1).flatMap(({ id: prompt }) => {
    const all = pairs(prompt)
    if (all.length === 0) return []
    const [least, most] = [all.map((pair) => pair.least), all.map((pair) => pair.most)]
    return [
      {
        prompt,
        mean: (average(least) + average(most)) / 2,
        lower: -Bounded.upperBound(
          least.map((one) => -one),
          0.025
        ),
        upper: Bounded.upperBound(most, 0.025)
      }
    ]
  })
}

/** What bounds the gain of a prompt: its differences to the original, and the risk that the bound is wrong. */
export interface Bound {
  readonly differences: ReadonlyArray<number>
  readonly risk: number
}

/**
 * The bounds of all prompts that were asked, `prompts` being all ever: together they are wrong at a risk of 5 %, however often one looks.
 * `reflected` are the cases that each was written from.
 */
export const bounds = (
  [original, ...others]: Prompts,
  answers: ReadonlyArray<Outcome>,
  reflected: ReadonlyMap<Instruction.InstructionId, ReadonlyArray<Question.QuestionId>>
): ReadonlyArray<Bound> => {
  const pairs = pairsOf(original, answers)
  return others.flatMap(({ id, parent }, place) => {
    const since = answers.findIndex(({ prompt }) => prompt === id)
    if (since < 0) return []
    const before = answers.slice(0, since).filter(({ prompt }) => prompt === parent)
    const left = leftOut(before, new Set(reflected.get(id)))
    return [
      { differences: pairs(id).flatMap((one) => (left.has(one.place) ? [] : [one.most])), risk: riskOf(place + 1) }
    ]
  })
}

/**
 * The cases that are no evidence. A prompt is not asked the failures of its parent that it was written from, so what else its parent
 * had answered before is too easy a sample: its successes are left out in the same proportion.
 */
const leftOut = (before: ReadonlyArray<Outcome>, reflected: ReadonlySet<string>): ReadonlySet<number> => {
  const scoreOf = (answer: Outcome) => (answer._tag === "Answered" ? answer.score : Infinity)
  const shown = before.filter((answer) => reflected.has(caseId(answer.case)))
  if (shown.length === 0) return new Set()
  const worst = Math.max(...shown.map(scoreOf))
  const equal = before.filter((answer) => scoreOf(answer) <= worst)
  const isMixed = shown.some((answer) => scoreOf(answer) < worst)
  const share = isMixed ? 0 : 1 - shown.length / equal.length
  const better = before.filter((answer) => scoreOf(answer) > worst)
  const isKept = (_: Outcome, nth: number) => Math.floor((nth + 1) * share) > Math.floor(nth * share)
  const kept = new Set([...(isMixed ? [] : equal), ...better.filter(isKept)])
  return new Set(before.flatMap((answer) => (kept.has(answer) ? [] : [answer.case])))
}

/** The largest gain that a prompt can have; null if none was asked. */
export const largest = (some: ReadonlyArray<Bound>): number | null =>
  some.length === 0 ? null : Math.max(...some.map(({ differences, risk }) => Bounded.upperBound(differences, risk)))

/** The risks of any number of prompts, the first of them 1, together 5 %: equal ones for the least that a claim needs, then smaller ones. */
const riskOf = (nth: number): number => {
  const place = Math.max(leastTried, nth)
  return (0.05 * (leastTried + 1)) / 2 / (place * (place + 1))
}

/** The prompts besides the original that must have been asked before "no headroom" is said. */
export const leastTried = 8

/** The differences of a prompt to the original with missing scores at their worst and at their best, by case in the order of the cases. */
const pairsOf = (original: Instruction.Instruction, answers: ReadonlyArray<Outcome>) => {
  const scores = new Map<string, Map<number, number | null>>()
  for (const answer of answers) {
    const own = scores.get(answer.prompt) ?? new Map<number, number | null>()
    scores.set(answer.prompt, own.set(answer.case, answer._tag === "Answered" ? answer.score : null))
  }
  const before = scores.get(original.id)
  return (prompt: Instruction.InstructionId) =>
    [...(scores.get(prompt) ?? [])].flatMap(([place, score]) => {
      const known = before?.get(place)
      return known === undefined
        ? []
        : [{ place, least: (score ?? 0) - (known ?? 1), most: (score ?? 1) - (known ?? 0) }]
    })
}

const average = (values: ReadonlyArray<number>): number => Bootstrap.meanOf(values) ?? 0

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

/** A prompt can change a score by tens of points, where instructions of a policy in training differ by a few. */
const prior: Prior = { spread: 0.04, newcomer: 0, deviation: 0.15 }

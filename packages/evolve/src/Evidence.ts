/** The answers so far, and what they say about the prompts: an answer is added without a copy of those before it, and changes sums in its case alone. */
import { type Instruction, Invariant, type Question } from "@inspo/domain"
import { Array as Arr, Chunk, HashMap, Option } from "effect"
import { sumAll } from "effect/Number"
import { Blocks, Comparison, Population } from "@inspo/population"
import { Conclude } from "@inspo/evolution"
import { Bootstrap, Bounded } from "@inspo/statistics"
import { type Answered, caseId, type Missed } from "./Event.ts"
import * as Sessions from "./Sessions.ts"

export type Outcome = Answered | Missed

/** What a prompt answered. A missing score counts as 0 in `sum`; `missed` are missing. */
export interface OfPrompt {
  readonly outcomes: Chunk.Chunk<Outcome>
  readonly byCase: HashMap.HashMap<number, ReadonlyArray<Outcome>>
  readonly sum: number
  readonly missed: number
}

export interface Answers {
  /** In order. */
  readonly outcomes: Chunk.Chunk<Outcome>
  readonly byPrompt: HashMap.HashMap<Instruction.InstructionId, OfPrompt>
}

export const noAnswers: Answers = { outcomes: Chunk.empty(), byPrompt: HashMap.empty() }

export const add = ({ byPrompt, outcomes }: Answers, outcome: Outcome): Answers => ({
  outcomes: Chunk.append(outcomes, outcome),
  byPrompt: HashMap.modifyAt(byPrompt, outcome.prompt, (known) => {
    const before = Option.getOrElse(known, () => unanswered)
    return Option.some({
      outcomes: Chunk.append(before.outcomes, outcome),
      byCase: HashMap.modifyAt(before.byCase, outcome.case, (some) =>
        Option.some([...Option.getOrElse(some, () => none), outcome])
      ),
      sum: before.sum + (outcome._tag === "Answered" ? outcome.score : 0),
      missed: before.missed + (outcome._tag === "Missed" ? 1 : 0)
    })
  })
})

/** What a prompt answered; nothing if it was not asked. */
export const ofPrompt = ({ byPrompt }: Answers, prompt: Instruction.InstructionId): OfPrompt =>
  Option.getOrElse(HashMap.get(byPrompt, prompt), () => unanswered)

/** The answers of a prompt to a case. */
export const at = ({ byCase }: OfPrompt, index: number): ReadonlyArray<Outcome> =>
  Option.getOrElse(HashMap.get(byCase, index), () => none)

/** The mean score of a prompt, where a missing one counts as 0; null if it was not asked. */
export const meanOf = (answers: Answers, prompt: Instruction.InstructionId): number | null => {
  const { outcomes, sum } = ofPrompt(answers, prompt)
  return outcomes.length === 0 ? null : sum / outcomes.length
}

const none: ReadonlyArray<Outcome> = []
const unanswered: OfPrompt = { outcomes: Chunk.empty(), byCase: HashMap.empty(), sum: 0, missed: 0 }

/** The original, and the prompts that entered later, in their order. */
export type Prompts = Arr.NonEmptyReadonlyArray<Instruction.Instruction>

/**
 * Prompts compared on all answers. Answers stay true, since the agent is not trained: a newcomer is compared with what other prompts
 * answered before, so a case costs one call instead of two.
 */
export interface Compared {
  readonly prompts: Prompts
  /** The prompts before their first answer. */
  readonly unasked: Population.Contents
  /** With the cases that several of them answered. */
  readonly sums: Comparison.Comparison
  /** What one of them alone answered, of each in order. */
  readonly alone: ReadonlyArray<ReadonlyArray<Alone>>
  /** How many answers are counted. */
  readonly counted: number
}

/** A prompt can change a score by tens of points, where instructions of a policy in training differ by a few. */
export const expected: Comparison.Prior = { spread: 0.04, newcomer: 0, deviation: 0.15 }

/** Compares prompts on the answers so far. */
export const compare = (prompts: Prompts, answers: Answers): Compared => {
  const unasked = begin(prompts)
  const groups = prompts.map(({ id }) => groupsOf(ofPrompt(answers, id)))
  const byCase = new Map<number, Array<Alone>>()
  for (const group of groups.flat()) {
    const known = byCase.get(group.index)
    if (known === undefined) byCase.set(group.index, [group])
    else known.push(group)
  }
  const shared = [...byCase.values()].filter(({ length }) => length > 1)
  return {
    prompts,
    unasked,
    sums: Comparison.count(unasked.comparison, Population.ids(unasked), shared.map(blockOf)),
    alone: groups.map((own) => own.filter(({ index }) => byCase.get(index)?.length === 1)),
    counted: answers.outcomes.length
  }
}

/** The same with the answers since: each changes the sums by its case. Other prompts are compared from the beginning. */
export const follow = (before: Compared, prompts: Prompts, answers: Answers): Compared => {
  const isSame =
    prompts.length === before.prompts.length && prompts.every(({ id }, at) => id === before.prompts[at]?.id)
  if (!isSame) return compare(prompts, answers)
  const ids = Population.ids(before.unasked)
  const fresh = new Set(
    Chunk.drop(answers.outcomes, before.counted).pipe(Chunk.filter(({ prompt }) => ids.includes(prompt)))
  )
  const indices = new Set(Array.from(fresh, (outcome) => outcome.case))
  const own = prompts.map(({ id }) => ofPrompt(answers, id))
  const alone = before.alone.map((groups) => groups.filter(({ index }) => !indices.has(index)))
  const left: Array<Blocks.Block> = []
  const entered: Array<Blocks.Block> = []
  for (const index of indices) {
    const outcomes = own.map((one) => at(one, index))
    const earlier = outcomes.flatMap((some) =>
      groupOf(
        index,
        some.filter((one) => !fresh.has(one))
      )
    )
    const now = outcomes.flatMap((some) => groupOf(index, some))
    if (earlier.length > 1) left.push(blockOf(earlier))
    if (now.length > 1) entered.push(blockOf(now))
    else for (const [at, some] of outcomes.entries()) alone[at]?.push(...groupOf(index, some))
  }
  const sums = Comparison.count(Comparison.count(before.sums, ids, left, -1), ids, entered)
  return { ...before, sums, alone, counted: answers.outcomes.length }
}

/** The members as a population, by what these and the other prompts answered. */
export const population = (
  compared: Compared,
  answers: Answers,
  step: number,
  isMember: (id: Instruction.InstructionId) => boolean
): Population.Contents => {
  const all = unjudged(compared, answers, step)
  const missing = Population.missingShares(all.members)
  const leaving = Population.ids(all).filter((id) => !isMember(id))
  if (all.members.every(({ lifetime }) => lifetime.bounds.groups === 0))
    return { ...Population.remove(compared.unasked, leaving), step }
  return leaving.length === 0
    ? { ...all, comparison: Comparison.judge(all.comparison, missing, step) }
    : Population.remove({ ...all, comparison: Comparison.lead(all.comparison, missing) }, leaving)
}

/** The gain of a prompt over the original on the cases that both were asked, with its 95 % interval; null without such a case. */
export interface Gain {
  readonly prompt: Instruction.InstructionId
  readonly mean: number
  readonly lower: number
  readonly upper: number
}

/**
 * The gains of the prompts that were asked, by the first case of each session. They hold whatever missing scores would have been, and however
 * often one looks.
 */
export const gains = (
  [original, ...others]: Prompts,
  answers: Answers,
  sessions: Sessions.Sessions
): ReadonlyArray<Gain> =>
  others.flatMap(({ id: prompt }) => {
    const pairs = firstOf(sessions, pairsOf(answers, original, prompt))
    if (pairs.length === 0) return []
    return [{ prompt, ...Conclude.sequence(pairs) }]
  })

/** What all prompts were written from, and the sessions of the cases. */
export interface Origins {
  readonly sources: ReadonlyMap<Instruction.InstructionId, Source>
  readonly sessions: Sessions.Sessions
}

/** What a prompt was written from: cases that its parent was asked, and how many answers its parent had. */
export interface Source {
  readonly reflected: ReadonlyArray<Question.QuestionId>
  readonly answered: number
}

/** What bounds the gain of a prompt: its differences to the original, and the risk that the bound is wrong. */
export interface Bound {
  readonly differences: ReadonlyArray<number>
  readonly risk: number
}

/** The bounds of all prompts that were asked, `prompts` being all ever: together they are wrong at a risk of 5 %, however often one looks. */
export const bounds = ([original, ...others]: Prompts, answers: Answers, origins: Origins): ReadonlyArray<Bound> =>
  others.flatMap((prompt, index) => boundOf(original, prompt, index + 1, answers, origins))

/** Whether at least {@link leastTried} prompts were asked and none can gain `gain`; the newest, asked least, leaves the question open. */
export const areBelow = ([original, ...others]: Prompts, answers: Answers, origins: Origins, gain: number): boolean => {
  let asked = 0
  for (let index = others.length - 1; index >= 0; index--) {
    const prompt = Invariant.at(others, index, "prompt")
    for (const { differences, risk } of boundOf(original, prompt, index + 1, answers, origins)) {
      if (Bounded.upperBound(differences, risk) >= gain) return false
      asked += 1
    }
  }
  return asked >= leastTried
}

/** The largest gain that a prompt can have; null if none was asked. */
export const largest = (some: ReadonlyArray<Bound>): number | null =>
  some.length === 0 ? null : Math.max(...some.map(({ differences, risk }) => Bounded.upperBound(differences, risk)))

/** The prompts besides the original that must have been asked before "no headroom" is said. */
export const leastTried = 8

const boundOf = (
  original: Instruction.Instruction,
  { id, parent }: Instruction.Instruction,
  nth: number,
  answers: Answers,
  { sessions, sources }: Origins
): ReadonlyArray<Bound> => {
  const source = sources.get(id)
  if (ofPrompt(answers, id).outcomes.length === 0) return []
  const before =
    source === undefined || parent === null
      ? []
      : Chunk.toReadonlyArray(Chunk.take(ofPrompt(answers, parent).outcomes, source.answered))
  const left = leftOut(before, new Set(source?.reflected))
  const pairs = pairsOf(answers, original, id).filter(({ index }) => !left.has(index))
  return [{ differences: firstOf(sessions, pairs).map(({ most }) => most), risk: riskOf(nth) }]
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

/** The risks of any number of prompts, the first of them 1, together 5 %: equal ones for the least that a claim needs, then smaller ones. */
const riskOf = (nth: number): number => {
  const rank = Math.max(leastTried, nth)
  return (0.05 * (leastTried + 1)) / 2 / (rank * (rank + 1))
}

/** The differences of a prompt to the original, with missing scores at their worst and at their best, in the order of its answers. */
const pairsOf = (answers: Answers, original: Instruction.Instruction, prompt: Instruction.InstructionId) => {
  const originals = ofPrompt(answers, original.id)
  return Arr.flatMap(Chunk.toReadonlyArray(ofPrompt(answers, prompt).outcomes), (after) =>
    at(originals, after.case)
      .slice(-1)
      .map((before) => ({
        index: after.case,
        least: scoreOf(after, 0) - scoreOf(before, 1),
        most: scoreOf(after, 1) - scoreOf(before, 0)
      }))
  )
}

/** The first of each session: at any time a sequence of independent differences, as means of sessions are not. */
const firstOf = <A extends { readonly index: number }>(sessions: Sessions.Sessions, pairs: ReadonlyArray<A>) =>
  Sessions.group(sessions, pairs, ({ index }) => index).map(([first]) => first)

/** The score of an answer; one that failed has the score `missing`. */
export const scoreOf = (outcome: Outcome, missing: number): number =>
  outcome._tag === "Answered" ? outcome.score : missing

/** The answers of two prompts to a case, with the difference of their means: repeated answers are one cluster, and no new case. */
export interface Cluster extends Conclude.Pair {
  readonly index: number
  readonly before: ReadonlyArray<Outcome>
  readonly after: ReadonlyArray<Outcome>
}

/** The cases that a control and another prompt both were asked, in the order of `cases`. */
export const clusters = (
  answers: Answers,
  [control, other]: readonly [Instruction.InstructionId, Instruction.InstructionId],
  cases: ReadonlyArray<number>,
  scored: (outcome: Outcome, missing: number) => number = scoreOf
): ReadonlyArray<Cluster> => {
  const [controls, others] = [ofPrompt(answers, control), ofPrompt(answers, other)]
  const meanOf = (outcomes: ReadonlyArray<Outcome>, missing: number) =>
    Bootstrap.meanOf(outcomes.map((outcome) => scored(outcome, missing))) ?? 0
  return cases.flatMap((index) => {
    const [before, after] = [at(controls, index), at(others, index)]
    if (before.length === 0 || after.length === 0) return []
    return [
      {
        index,
        before,
        after,
        least: meanOf(after, 0) - meanOf(before, 1),
        most: meanOf(after, 1) - meanOf(before, 0)
      }
    ]
  })
}

/** Those of a session as one, of which each case weighs the same: their differences are not independent. */
export const ofSessions = (sessions: Sessions.Sessions, all: ReadonlyArray<Cluster>): ReadonlyArray<Cluster> =>
  Sessions.group(sessions, all, ({ index }) => index).map((own) => ({
    index: own[0].index,
    before: own.flatMap(({ before }) => before),
    after: own.flatMap(({ after }) => after),
    least: Bootstrap.meanOf(own.map(({ least }) => least)) ?? 0,
    most: Bootstrap.meanOf(own.map(({ most }) => most)) ?? 0
  }))

/** What a prompt answered to a case, by its index. */
interface Alone extends Blocks.Scored {
  readonly index: number
}

/** A search asks a prompt about a case once. */
const groupsOf = ({ outcomes }: OfPrompt): ReadonlyArray<Alone> =>
  Arr.flatMap(Chunk.toReadonlyArray(outcomes), (outcome) => groupOf(outcome.case, [outcome]))

const groupOf = (index: number, outcomes: ReadonlyArray<Outcome>): ReadonlyArray<Alone> => {
  const [first] = outcomes
  if (first === undefined) return []
  let [low, high] = [0, 0]
  for (const outcome of outcomes) {
    low += outcome._tag === "Answered" ? outcome.score : 0
    high += outcome._tag === "Answered" ? outcome.score : 1
  }
  return [{ index, instruction: first.prompt, question: null, stratum: "", samples: outcomes.length, low, high }]
}

const blockOf = (groups: ReadonlyArray<Alone>): Blocks.Block => groups.map((group) => Blocks.onQuestion([group]))

/** With all answers, and without a judgement. */
const unjudged = (compared: Compared, answers: Answers, step: number): Population.Contents => {
  const { alone, sums, unasked } = compared
  const members = unasked.members.map((member): Population.Member => {
    const { missed, outcomes, sum } = ofPrompt(answers, member.instruction.id)
    const groups = outcomes.length - missed
    const lifetime = {
      groups,
      trajectories: groups,
      rewardSum: sum,
      bounds: { groups: outcomes.length, low: 1 / 2 + sum, high: 1 / 2 + sum + missed }
    }
    if (groups === 0) return { ...member, lifetime }
    const mean = sum / groups
    return { ...member, lifetime, window: [{ step, mean, trajectories: groups, groups }], value: mean }
  })
  const ids = Population.ids(unasked)
  const comparison = {
    ...Comparison.count(sums, ids, Blocks.deal(alone.filter(({ length }) => length > 0))),
    samples: sumAll(members.map(({ lifetime }) => lifetime.trajectories)),
    sum: sumAll(members.map(({ lifetime }) => lifetime.rewardSum))
  }
  return { members, step, comparison }
}

/** The prompts before they are asked. Newcomers are expected to be about as good as their parent or, if that is gone, as the original. */
const begin = (prompts: Prompts): Population.Contents => {
  const [, ...others] = prompts
  let entered = Comparison.entered({ ...Comparison.empty, prior: expected }, 1)
  for (const batch of siblings(others)) {
    const index = prompts.findIndex(({ id }) => id === batch[0].parent)
    const incumbent = index >= 0 && index < entered.weighted.length ? index : 0
    entered = Comparison.entered({ ...entered, incumbent }, batch.length)
  }
  const members = prompts.flatMap((one) => Population.begin([one]).members)
  return { members, step: 0, comparison: Comparison.judge(entered, Population.missingShares(members), 0) }
}

/** Neighbours with the same parent enter together. */
const siblings = (
  instructions: ReadonlyArray<Instruction.Instruction>
): ReadonlyArray<Arr.NonEmptyReadonlyArray<Instruction.Instruction>> =>
  Arr.isReadonlyArrayNonEmpty(instructions)
    ? Arr.groupWith(instructions, (one, other) => one.parent === other.parent)
    : []

/** How far the scores of a comparison agree with labels of some answers, and what it shows when those correct it. Pure. */
import { RandomStream } from "@inspo/domain"
import type { Conclude } from "@inspo/evolution"
import { Bounded, Exact, Moments, PredictionPowered } from "@inspo/statistics"
import { Array as Arr, Option, Schema } from "effect"
import { control, others, type State } from "./Comparison.ts"
import { type Answered, keyOf } from "./Event.ts"
import * as Scorers from "./Scorers.ts"
import type { Gain } from "./SearchView.ts"
import * as Sessions from "./Sessions.ts"
import type { Scored } from "./Setup.ts"

/** The key of an answer, by which it has a label. */
export { keyOf }

/** What labels in [0, 1] show of a judge, and of the prompts but the control. */
export interface Judged {
  readonly labels: number
  /** The share of answers that label and judge put on the same side of 1/2. */
  readonly agreement: Gain
  /** How much higher the judge scores: all, and the longer and the shorter half of the answers. */
  readonly bias: Gain
  readonly biasOfLong: Gain
  readonly biasOfShort: Gain
  readonly candidates: ReadonlyArray<{
    /** Sessions with labels under both prompts, and those without; a case without a session is one. */
    readonly labelled: number
    readonly others: number
    /** The mean difference by the judge, and as the labels correct it. */
    readonly judged: number
    readonly corrected: PredictionPowered.Corrected
    readonly verdict: Conclude.Shown["verdict"]
  }>
}

/** A label: a score in [0, 1]; null for anything else. */
export const readLabel = (text: string): number | null =>
  text.trim() === "" ? null : Option.getOrNull(decodeLabel(text))

const decodeLabel = Schema.decodeOption(Schema.FiniteFromString.check(Schema.isBetween({ minimum: 0, maximum: 1 })))

/** How good the reply of a judge is by a label of what it judged: 1 where both are on the same side of 1/2. */
export const scoreVerdict = (reply: string, label: number): Scored => {
  const verdict = Scorers.readVerdict(reply)
  return verdict === null
    ? { score: 0, feedback: "The judge gave no score." }
    : {
        score: agreement(verdict.score, label),
        feedback: `The judge gave ${10 * verdict.score} of 10; right is ${10 * label}.`
      }
}

const agreement = (one: number, other: number): number => Number(one >= 1 / 2 === other >= 1 / 2)

/** The answers to so many cases of random sessions under all prompts, in an order that hides which prompt is whose. */
export const toLabel = (state: State, count: number, seed: number): ReadonlyArray<Answered> => {
  const stream = RandomStream.make(seed, ["labels"])
  const { sessions, settings } = state.setup
  const whole = byCase(answersOf(state)).filter(({ length }) => length === settings.arms.length)
  return stream
    .shuffle(Sessions.group(sessions, whole, ([first]) => first.case))
    .flat()
    .slice(0, count)
    .flatMap((own) => stream.shuffle(own))
}

/** What labels show. They must be of cases drawn at random, such as those of {@link toLabel} or the first of them. */
export const judged = (
  state: State,
  labels: ReadonlyMap<string, number>,
  lengthOf: (answer: Answered) => number
): Judged => {
  const { sessions, settings } = state.setup
  const { margin } = settings
  const answers = answersOf(state).map((one) => ({ ...one, length: lengthOf(one), exact: labels.get(keyOf(one)) }))
  const known = answers.flatMap(({ exact, ...one }) => (exact === undefined ? [] : [{ ...one, exact }]))
  const lengths = known.map(({ length }) => length).toSorted((one, other) => one - other)
  const middle = lengths[Math.floor(lengths.length / 2)] ?? 0
  const bySession = (some: typeof known, valueOf: (one: (typeof known)[number]) => number) =>
    Sessions.group(sessions, some, (one) => one.case).map((own) => Moments.mean(own.map(valueOf)))
  const biasOf = (some: typeof known) => intervalOf(bySession(some, ({ exact, score }) => score - exact))
  return {
    labels: known.length,
    agreement: shareOf(bySession(known, ({ exact, score }) => agreement(exact, score))),
    bias: biasOf(known),
    biasOfLong: biasOf(known.filter(({ length }) => length >= middle)),
    biasOfShort: biasOf(known.filter(({ length }) => length < middle)),
    candidates: others(state.setup).map((other, _, all) => {
      const cases = byCase(answers).flatMap((own) => {
        const [before, after] = [control, other].map((id) => own.find(({ prompt }) => prompt === id))
        if (before === undefined || after === undefined) return []
        const isLabelled = before.exact !== undefined && after.exact !== undefined
        const exact = (after.exact ?? 0) - (before.exact ?? 0)
        return [{ case: before.case, isLabelled, exact, judged: after.score - before.score }]
      })
      // Of a session with labels, the cases that have some.
      const pairs = Sessions.group(sessions, cases, (one) => one.case).map((own) => {
        const isLabelled = own.some((one) => one.isLabelled)
        const known = own.filter((one) => one.isLabelled === isLabelled)
        return {
          isLabelled,
          exact: Moments.mean(known.map(({ exact }) => exact)),
          judged: Moments.mean(known.map(({ judged }) => judged))
        }
      })
      const labelled = pairs.filter((pair) => pair.isLabelled)
      const rest = pairs.flatMap((pair) => (pair.isLabelled ? [] : [pair.judged]))
      const corrected = PredictionPowered.mean(labelled, rest, 0.05 / all.length)
      const { lower, upper } = corrected
      return {
        labelled: labelled.length,
        others: rest.length,
        judged: Moments.mean(pairs.map((pair) => pair.judged)),
        corrected,
        verdict: lower > 0 ? "better" : lower > -margin ? "no-worse" : upper < 0 ? "worse" : "undecided"
      }
    })
  }
}

/** Of several answers to a case, the first one has a label. */
const answersOf = ({ answers }: State): ReadonlyArray<Answered> =>
  [...answers.outcomes].flatMap((one) => (one._tag === "Answered" && one.sample === 0 ? [one] : []))

const byCase = <A extends { readonly case: number }>(all: ReadonlyArray<A>) =>
  Object.values(Arr.groupBy(all, (one) => `${one.case}`))

const shareOf = (values: ReadonlyArray<number>): Gain => {
  const mean = Moments.mean(values)
  const [lower, upper] = values.length === 0 ? [0, 1] : Exact.shareInterval(mean * values.length, values.length, 0.9)
  return { mean, lower, upper }
}

const intervalOf = (values: ReadonlyArray<number>): Gain => {
  const [lower, upper] = values.length === 0 ? [-1, 1] : Bounded.differenceInterval(values)
  return { mean: Moments.mean(values), lower, upper }
}

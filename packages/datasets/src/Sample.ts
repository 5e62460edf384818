import { Problem, type Question, RandomStream } from "@inspo/domain"
import { Array, Order, Result, Schema } from "effect"

/** The relative share of each data source; sources without one are left out. */
export type Shares = Readonly<Record<string, number>>

/** A sample cannot be drawn: `field` has an invalid value. */
export class SampleError extends Schema.TaggedError<SampleError>()("SampleError", Problem.fields) {
  override get message() {
    return Problem.words(this)
  }
}

export interface MixOptions {
  readonly seed: number
  readonly shares: Shares
  /** How many questions to draw; by default as many as every source allows. */
  readonly size?: number
}

/**
 * Draws questions without repetition so that each source has its share, to the nearest question. Equal questions
 * and options give equal samples, in the order of the questions.
 */
export const mix = <Q extends Question.Question>(
  questions: ReadonlyArray<Q>,
  options: MixOptions
): Result.Result<ReadonlyArray<Q>, SampleError> => {
  const bySource = Map.groupBy(questions, ({ dataSource }) => dataSource)
  const wanted = Object.entries(options.shares).filter(([, share]) => share > 0)
  const missing = wanted.find(([source]) => !bySource.has(source))
  if (missing !== undefined || wanted.length === 0) {
    const found = [...bySource.keys()].join(", ") || "none, since there are no questions"
    return Result.fail(
      new SampleError(
        missing === undefined
          ? { field: "every share", value: "0", expected: `a positive share of one of ${found}` }
          : { field: "the source of a share", value: missing[0], expected: `one of ${found}` }
      )
    )
  }
  const available = wanted.map(([source, share]) => ({ source, share, size: bySource.get(source)?.length ?? 0 }))
  const quotas = apportion(
    available.map(({ share }) => share),
    options.size ?? largest(available)
  )
  const short = available.find(({ size }, i) => (quotas[i] ?? 0) > size)
  if (short !== undefined) {
    return Result.fail(
      new SampleError({
        field: `the share of ${short.source}`,
        value: String(short.share),
        expected: `one that asks for at most its ${short.size} questions; lower it or the size`
      })
    )
  }
  const chosen = new Set(
    available.flatMap(({ source }, i) =>
      shuffled(bySource.get(source) ?? [], options.seed, ["mix", source]).slice(0, quotas[i])
    )
  )
  return Result.succeed(questions.filter((question) => chosen.has(question)))
}

export interface SplitOptions {
  readonly seed: number
  /** The relative share of each part. */
  readonly shares: Shares
}

/**
 * Splits questions at random so that every source has the given shares, to the nearest question, and equal texts are in
 * one part. Every question is in exactly one part; parts keep the order of the questions.
 */
export const split = <Q extends Question.Question>(
  questions: ReadonlyArray<Q>,
  { seed, shares }: SplitOptions
): Readonly<Record<string, ReadonlyArray<Q>>> => {
  const names = Object.keys(shares)
  const partOf = new Map<string, string>()
  for (const [source, members] of Map.groupBy(questions, ({ dataSource }) => dataSource)) {
    const texts = Array.dedupe(members.map(textOf)).filter((text) => !partOf.has(text))
    const quotas = apportion(Object.values(shares), texts.length)
    const order = shuffled(texts, seed, ["split", source])
    let start = 0
    names.forEach((name, part) => {
      const end = start + (quotas[part] ?? 0)
      for (const text of order.slice(start, end)) partOf.set(text, name)
      start = end
    })
  }
  return Object.fromEntries(
    names.map((name) => [name, questions.filter((question) => partOf.get(textOf(question)) === name)])
  )
}

/** Whole numbers in proportion to `shares` that sum to `total`: largest remainders first, earlier ones on a tie. */
export const apportion = (shares: ReadonlyArray<number>, total: number): ReadonlyArray<number> => {
  const sum = shares.reduce((a, b) => a + b, 0)
  const exact = shares.map((share) => (share * total) / sum)
  const floors = exact.map(Math.floor)
  const left = total - floors.reduce((a, b) => a + b, 0)
  const byRemainder = Array.sortWith(
    exact.map((share, i) => [share - Math.floor(share), i] as const),
    ([rest]) => -rest,
    Order.Number
  )
  const raised = new Set(byRemainder.slice(0, left).map(([, i]) => i))
  return floors.map((count, i) => (raised.has(i) ? count + 1 : count))
}

/** The size of the largest sample without repetition. */
const largest = (available: ReadonlyArray<{ readonly share: number; readonly size: number }>): number => {
  const sum = available.reduce((total, { share }) => total + share, 0)
  return Math.floor(Math.min(...available.map(({ size, share }) => (size * sum) / share)))
}

const shuffled = <A>(items: ReadonlyArray<A>, seed: number, path: RandomStream.StreamPath): ReadonlyArray<A> =>
  RandomStream.make(seed, path).shuffle(items)

const textOf = ({ question }: Question.Question): string => question.trim()

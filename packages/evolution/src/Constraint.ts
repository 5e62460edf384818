/** What a number beside the reward may be at most, such as `latency.p95=2s` or `usd=0.05`. */
import { Bounded, Skewed } from "@inspo/statistics"
import { Schema } from "effect"

export interface Constraint {
  readonly text: string
  /** `usd`, `latency` in seconds, or another number that comes with the reward. */
  readonly metric: string
  /** The part of the answers that must be within the bound; null for their mean. */
  readonly quantile: number | null
  readonly bound: number
  /** Whether the bound is a change against the control. */
  readonly isRelative: boolean
}

/** What is known of a constraint: a share of answers above the bound, a change against the control, or a mean. */
export interface Found {
  readonly constraint: string
  readonly value: number
  readonly lower: number
  readonly upper: number
  /** What it may be at most. */
  readonly limit: number
  readonly isShare: boolean
  /** Whether it is shown to hold; null if neither that nor the contrary is shown. */
  readonly isMet: boolean | null
}

/** What a text like those above says; null for another one. */
export const read = (text: string): Constraint | null => {
  const [, metric = "", percentile, sign = "", written = "", unit = ""] =
    /^([a-z][\w-]*)(?:\.p(\d\d))?=([+-]?)(\d+(?:\.\d+)?)(%|ms|s)?$/iu.exec(text) ?? []
  const isRelative = unit === "%"
  const isFit = metric !== "" && isRelative === (sign !== "") && !(isRelative && percentile !== undefined)
  if (!isFit || percentile === "00") return null
  const scale = { "%": 0.01, ms: 0.001 }[unit] ?? 1
  const bound = Number(`${sign}${written}`) * scale
  return { text, metric, quantile: percentile === undefined ? null : Number(percentile) / 100, bound, isRelative }
}

/** What the bounds of a value show, of enough answers. */
export const found = (
  { isRelative, quantile, text }: Constraint,
  { lower, mean, upper }: { readonly mean: number; readonly lower: number; readonly upper: number },
  limit: number,
  isEnough: boolean
): Found => ({
  constraint: text,
  value: mean,
  lower,
  upper,
  limit,
  isShare: isRelative || quantile !== null,
  isMet: !isEnough ? null : upper <= limit + tiny ? true : lower > limit + tiny ? false : null
})

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Numbers from 0 on: in parts of a bound above 0, or how many were above it. Whole numbers, so that sums do not depend on their order. */
export const Tally = Schema.Struct({ count: Count, sum: Count, squares: Count, least: Count, most: Count })
export interface Tally extends Schema.Schema.Type<typeof Tally> {}

export const tallyOf = ({ bound, quantile }: Constraint, value: number): Tally => {
  const one = quantile === null ? Math.round(Math.min(largest, value / bound) * parts) : value > bound ? 1 : 0
  return { count: 1, sum: one, squares: one * one, least: one, most: one }
}

const parts = 1000
/** A larger number counts as so many times the bound. */
const largest = 1000

/** The tally of all numbers of both. */
export const both = (one: Tally, other: Tally): Tally => ({
  count: one.count + other.count,
  sum: one.sum + other.sum,
  squares: one.squares + other.squares,
  least: Math.min(one.least, other.least),
  most: Math.max(one.most, other.most)
})

/** What a tally shows, at whatever time it is looked at: a false claim that the constraint is broken has a probability of at most `risk`. */
export const judged = (one: Constraint, { count, least, most, squares, sum }: Tally, risk: number): Found => {
  const mean = sum / count
  if (one.quantile !== null) {
    const shares = new Map([
      [-1, sum],
      [0, count - sum]
    ])
    const limit = 1 - one.quantile
    const lower = mean <= limit ? 0 : -Bounded.upperBoundOf(shares, risk)
    return found(one, { mean, lower, upper: 1 }, limit, true)
  }
  const spread = { count, mean: -mean, squares: squares - sum * mean, farthest: Math.max(most - mean, mean - least) }
  const lower = -Skewed.upperBound(spread, Skewed.anytime(count + 1, risk))
  const scaled = (value: number) => (value * one.bound) / parts
  return found(one, { mean: scaled(mean), lower: scaled(lower), upper: Infinity }, one.bound, count >= leastAnswers)
}

/** The answers from which on the mean of a number without bounds is judged. */
export const leastAnswers = 30

const tiny = 1e-12

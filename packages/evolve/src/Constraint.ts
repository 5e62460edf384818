/** What numbers beside the score may be at most, such as `latency.p95=2s` or `usd=+0%`, and what answers show of it. */
import { type Instruction, InvalidInput } from "@inspo/domain"
import { Bootstrap, Bounded, Exact } from "@inspo/statistics"
import type { Cluster, Outcome } from "./Evidence.ts"

export interface Constraint {
  readonly text: string
  /** `usd`, `latency` in seconds, `length` of the prompt in characters, or a number that comes with the score. */
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

/** Throws `InvalidInput` on another text. */
export const parse = (text: string): Constraint => {
  const [, metric = "", percentile, sign = "", written = "", unit = ""] =
    /^([a-z][\w-]*)(?:\.p(\d\d))?=([+-]?)(\d+(?:\.\d+)?)(%|ms|s)?$/iu.exec(text) ?? []
  const isRelative = unit === "%"
  const isFit = metric !== "" && isRelative === (sign !== "") && !(isRelative && percentile !== undefined)
  if (!isFit || percentile === "00" || (metric === "length" && percentile !== undefined))
    InvalidInput.refuse({
      where: "compare",
      field: "constraints",
      value: text,
      expected: "METRIC=BOUND, such as usd=+0%, tokens=500, latency=800ms or latency.p95=2s"
    })
  const scale = { "%": 0.01, ms: 0.001 }[unit] ?? 1
  const bound = Number(`${sign}${written}`) * scale
  return { text, metric, quantile: percentile === undefined ? null : Number(percentile) / 100, bound, isRelative }
}

/**
 * What the answers to the same cases show, where a prompt has `lengths` in characters. What a share is shown to be is wrong with a probability
 * of at most `risk`, at any time unless `isFinal`. For a mean this holds for many cases, so nothing is shown by fewer than {@link leastCases}.
 */
export const judge = (
  one: Constraint,
  pairs: ReadonlyArray<Cluster>,
  lengths: readonly [control: number, other: number],
  risk: number,
  isFinal: boolean
): Found => {
  const { bound, isRelative, metric, quantile } = one
  if (metric === "length") {
    const value = isRelative ? lengths[1] / lengths[0] - 1 : lengths[1]
    return found(one, { mean: value, lower: value, upper: value }, bound, true)
  }
  if (quantile !== null) {
    const over = (missing: number) =>
      pairs.map(({ after }) =>
        average(after.map((answer) => ((valueOf(answer, metric) ?? missing * Infinity) > bound ? 1 : 0)))
      )
    const [low, high] = [over(-1), over(1)]
    const upper = Math.min(1, Bounded.upperBound(high, risk))
    const lower = Math.max(0, -Bounded.upperBound(low.map(negated), risk))
    return found(one, { mean: average(high), lower, upper }, 1 - quantile, true)
  }
  const [control, other] = [
    pairs.map(({ before }) => meanOf(before, metric)),
    pairs.map(({ after }) => meanOf(after, metric))
  ]
  const isKnown = [...other, ...(isRelative ? control : [])].every((value) => value !== null)
  const base = isRelative ? average(control.map(orZero)) : 1
  // Nothing is known of a change from nothing, such as of prices that nobody reports.
  if (base === 0) return found(one, { mean: 0, lower: -1, upper: 1 }, bound, false)
  const excess = other.map((value, at) => orZero(value) - (isRelative ? (1 + bound) * orZero(control[at]) : bound))
  const errors = isFinal ? once(excess.length + 1, risk) : anytime(excess.length + 1, risk)
  const scaled = (value: number) => value / base + bound
  return found(
    one,
    {
      mean: scaled(average(excess)),
      lower: scaled(-above(excess.map(negated), errors)),
      upper: scaled(above(excess, errors))
    },
    bound,
    isKnown && pairs.length >= leastCases
  )
}

/** The characters of a prompt; of named texts those of all. */
export const lengthOf = (prompt: Instruction.Content): number =>
  (typeof prompt === "string" ? prompt : Object.values(prompt).join("")).length

/** The cases from which on the mean of a number without bounds is judged. */
export const leastCases = 30

const found = (
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

const tiny = 1e-12

/** The number that an answer came with; undefined if there is none. */
const valueOf = (answer: Outcome, metric: string): number | undefined =>
  answer._tag === "Answered" ? answer.metrics?.[metric] : metric === "usd" ? answer.usd : undefined

const meanOf = (answers: ReadonlyArray<Outcome>, metric: string): number | null => {
  const values = answers.flatMap((answer) => valueOf(answer, metric) ?? [])
  return values.length < answers.length ? null : average(values)
}

/** The standard errors that a mean of so many values is uncertain by after one look. */
const once = (count: number, risk: number): number => Exact.tQuantile(1 - 2 * risk, count - 1)

/** At all looks together (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, 2024), fewest for 100 values. */
const anytime = (count: number, risk: number): number => {
  const grown = (count * (2 * Math.log(1 / risk) + Math.log(2 * Math.log(1 / risk)) + 1)) / 100 + 1
  return Math.sqrt(((2 * grown) / (grown - 1)) * Math.log1p(Math.sqrt(grown) / (2 * risk)))
}

/**
 * An upper bound of a mean, so many standard errors above it. One more value, as far above the mean again as twice the farthest, is for
 * those that a skewed distribution has and few cases do not show: without it costs are called low four times as often as they may be.
 */
const above = (values: ReadonlyArray<number>, errors: number): number => {
  const before = average(values)
  const farthest = Math.max(0, ...values.map((one) => Math.abs(one - before)))
  const all = [...values, before + 2 * farthest]
  const mean = average(all)
  const squares = all.reduce((sum, one) => sum + (one - mean) ** 2, 0)
  return mean + errors * Math.sqrt(squares / Math.max(1, values.length) / all.length)
}

const average = (values: ReadonlyArray<number>): number => Bootstrap.meanOf(values) ?? 0
const orZero = (value: number | null | undefined): number => value ?? 0
const negated = (value: number): number => -value

/** What numbers beside the score may be at most, such as `latency.p95=2s` or `usd=+0%`, and what answers show of it. */
import { type Instruction, InvalidInput } from "@inspo/domain"
import { Constraint as Rule } from "@inspo/evolution"
import { Bootstrap, Bounded, Skewed } from "@inspo/statistics"
import type { Cluster, Outcome } from "./Evidence.ts"

/** Throws `InvalidInput` on another text. */
export const parse = (text: string): Rule.Constraint => {
  const found = Rule.read(text)
  return found === null || (found.metric === "length" && found.quantile !== null)
    ? InvalidInput.refuse({
        where: "compare",
        field: "constraints",
        value: text,
        expected: "METRIC=BOUND, such as usd=+0%, tokens=500, latency=800ms or latency.p95=2s"
      })
    : found
}

/**
 * What the answers to the same cases show, where a prompt has `lengths` in characters. What a share is shown to be is wrong with a probability
 * of at most `risk`, at any time unless `isFinal`. For a mean this holds for many cases, so nothing is shown by fewer than {@link Rule.leastAnswers}.
 */
export const judge = (
  one: Rule.Constraint,
  pairs: ReadonlyArray<Cluster>,
  lengths: readonly [control: number, other: number],
  risk: number,
  isFinal: boolean
): Rule.Found => {
  const { bound, isRelative, metric, quantile } = one
  if (metric === "length") {
    const value = isRelative ? lengths[1] / lengths[0] - 1 : lengths[1]
    return Rule.found(one, { mean: value, lower: value, upper: value }, bound, true)
  }
  if (quantile !== null) {
    const over = (missing: number) =>
      pairs.map(({ after }) =>
        average(after.map((answer) => ((valueOf(answer, metric) ?? missing * Infinity) > bound ? 1 : 0)))
      )
    const [low, high] = [over(-1), over(1)]
    const upper = Math.min(1, Bounded.upperBound(high, risk))
    const lower = Math.max(0, -Bounded.upperBound(low.map(negated), risk))
    return Rule.found(one, { mean: average(high), lower, upper }, 1 - quantile, true)
  }
  const [control, other] = [
    pairs.map(({ before }) => meanOf(before, metric)),
    pairs.map(({ after }) => meanOf(after, metric))
  ]
  const isKnown = [...other, ...(isRelative ? control : [])].every((value) => value !== null)
  const base = isRelative ? average(control.map(orZero)) : 1
  // Nothing is known of a change from nothing, such as of prices that nobody reports.
  if (base === 0) return Rule.found(one, { mean: 0, lower: -1, upper: 1 }, bound, false)
  const excess = other.map((value, at) => orZero(value) - (isRelative ? (1 + bound) * orZero(control[at]) : bound))
  const errors = isFinal ? Skewed.once(excess.length + 1, risk) : Skewed.anytime(excess.length + 1, risk)
  const spread = Skewed.spreadOf(excess)
  const scaled = (value: number) => value / base + bound
  return Rule.found(
    one,
    {
      mean: scaled(average(excess)),
      lower: scaled(-Skewed.upperBound(Skewed.negated(spread), errors)),
      upper: scaled(Skewed.upperBound(spread, errors))
    },
    bound,
    isKnown && pairs.length >= Rule.leastAnswers
  )
}

/** Throws `InvalidInput` on a metric that none of some answers has. */
export const assertKnown = (all: ReadonlyArray<Rule.Constraint>, answers: Iterable<Outcome>): void => {
  const known = new Set([...answers].flatMap((one) => (one._tag === "Answered" ? Object.keys(one.metrics ?? {}) : [])))
  const strange = all.find(({ metric }) => metric !== "length" && !known.has(metric))
  if (strange !== undefined && known.size > 0)
    InvalidInput.refuse({
      where: "compare",
      field: "constraints",
      value: strange.metric,
      expected: `a number that answers come with: ${[...known, "length"].join(", ")}`
    })
}

/** The characters of a prompt; of named texts those of all. */
export const lengthOf = (prompt: Instruction.Content): number =>
  (typeof prompt === "string" ? prompt : Object.values(prompt).join("")).length

/** The number that an answer came with; undefined if there is none. */
const valueOf = (answer: Outcome, metric: string): number | undefined =>
  answer._tag === "Answered" ? answer.metrics?.[metric] : metric === "usd" ? answer.usd : undefined

const meanOf = (answers: ReadonlyArray<Outcome>, metric: string): number | null => {
  const values = answers.flatMap((answer) => valueOf(answer, metric) ?? [])
  return values.length < answers.length ? null : average(values)
}

const average = (values: ReadonlyArray<number>): number => Bootstrap.meanOf(values) ?? 0
const orZero = (value: number | null | undefined): number => value ?? 0
const negated = (value: number): number => -value

/** Guardrails: what numbers beside the reward may be at most. A member that is shown to exceed one is leased no more. */
import { Constraint } from "@inspo/evolution"
import { Schema } from "effect"
import type { Broken, Metrics, MemberStats, Tallies } from "./Learning.ts"

/** The text of a guardrail: a bound above 0 of a metric that comes with rewards, which is no change against the control. */
export const Guardrail = Schema.String.check(
  Schema.makeFilter(
    (text) => {
      const one = Constraint.read(text)
      return one !== null && !one.isRelative && one.bound > 0 && one.metric !== "length"
    },
    { expected: "METRIC=BOUND with a bound above 0, such as usd=0.05 or latency.p95=2s" }
  )
)

/** Of the numbers that come with a reward, those that guardrails name; undefined without any. */
export const named = (guardrails: ReadonlyArray<string>, metrics: Metrics): Metrics | undefined => {
  const names = new Set(guardrails.map((text) => Constraint.read(text)?.metric))
  const own = Object.entries(metrics).filter(([name]) => names.has(name))
  return own.length === 0 ? undefined : Object.fromEntries(own)
}

/** The tallies of one sample by guardrail. */
export const tallied = (guardrails: ReadonlyArray<string>, metrics: Metrics = {}): Tallies =>
  Object.fromEntries(
    guardrails.flatMap((text) => {
      const rule = Constraint.read(text)
      const value = rule !== null && Object.hasOwn(metrics, rule.metric) ? metrics[rule.metric] : undefined
      return rule === null || value === undefined ? [] : [[text, Constraint.tallyOf(rule, value)]]
    })
  )

/** The tallies of both. */
export const added = (one: Tallies = {}, other: Tallies = {}): Tallies => {
  const sums = { ...one }
  for (const [text, more] of Object.entries(other)) {
    const known = Object.hasOwn(sums, text) ? sums[text] : undefined
    sums[text] = known === undefined ? more : Constraint.both(known, more)
  }
  return sums
}

/**
 * The guardrail that tallies show to be broken, at whatever time they are looked at, with a risk of at most `risk` for all guardrails of a
 * member together. For a mean that holds for many numbers, so few show nothing.
 */
export const brokenBy = (guardrails: ReadonlyArray<string>, tallies: Tallies, risk: number): Broken | null => {
  for (const text of guardrails) {
    const rule = Constraint.read(text)
    const tally = Object.hasOwn(tallies, text) ? tallies[text] : undefined
    if (rule === null || tally === undefined) continue
    const { isMet, limit, lower, value } = Constraint.judged(rule, tally, risk / guardrails.length)
    if (isMet === false) return { guardrail: text, value, lower, limit, samples: tally.count }
  }
  return null
}

/** Statistics without what is known of other guardrails than these. */
export const kept = ({ numbers, paused, ...stats }: MemberStats, guardrails: ReadonlyArray<string>): MemberStats => ({
  ...stats,
  ...(numbers === undefined
    ? {}
    : { numbers: Object.fromEntries(Object.entries(numbers).filter(([text]) => guardrails.includes(text))) }),
  ...(paused === undefined || !guardrails.includes(paused.guardrail) ? {} : { paused })
})

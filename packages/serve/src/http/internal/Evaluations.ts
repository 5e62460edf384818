/**
 * Finds rewards in telemetry: results of evaluations, with the leases of their spans. Names are those of the semantic conventions
 * of OpenTelemetry, version 1.45.0, which call these still experimental.
 */
import { Result, Schema } from "effect"
import { Reward } from "../../wire/Lease.ts"
import * as Limits from "../../wire/Limits.ts"
import type { Attributes, LogRecord, Named, Span } from "./Otlp.ts"

/** The reward of an evaluation, or why there is none. */
export type Found = Result.Result<Reward, string>

/** Why an evaluation of other work is no reward, which is no fault. */
export const noLease = "an evaluation is ignored: neither it nor its span has the attribute inspo.lease"

/** The names that are read. Cost is no part of the conventions, but many libraries report it by this name. */
export const names = {
  event: "gen_ai.evaluation.result",
  evaluation: "gen_ai.evaluation.name",
  score: "gen_ai.evaluation.score.value",
  explanation: "gen_ai.evaluation.explanation",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cost: "gen_ai.usage.cost",
  lease: "inspo.lease"
} as const

/** What a span says of its work. */
interface Facts {
  readonly lease?: string
  readonly tokens?: number
  readonly usd?: number
  readonly metrics?: { readonly latency: number }
}

/** Remembers the leases of the latest spans, since the log records of evaluations come in other requests than their spans. */
export const make = () => {
  const known = new Map<string, Facts>()
  const remember = (id: string, facts: Facts) => {
    if (!wellFormed.test(id) || (facts.lease ?? "").length > Limits.leaseLength) return
    known.delete(id)
    known.set(id, facts)
    const [oldest] = known.keys()
    if (known.size > Limits.spansRemembered && oldest !== undefined) known.delete(oldest)
  }
  return {
    /** Those of spans, of the given evaluation alone if it is named. */
    ofSpans: (spans: ReadonlyArray<Span>, evaluation: string | undefined): ReadonlyArray<Found> => {
      const byId = new Map(spans.map((span) => [span.id, span]))
      return spans
        .map((span) => ({ span, facts: nearest(span, byId, known) }))
        .flatMap(({ facts, span }) => {
          if (facts.lease !== undefined) remember(span.id, facts)
          return [span, ...span.events].filter(isOf(evaluation)).map(({ attributes }) => rewardOf(attributes, facts))
        })
    },
    /** Those of log records, of the given evaluation alone if it is named. */
    ofLogs: (records: ReadonlyArray<LogRecord>, evaluation: string | undefined): ReadonlyArray<Found> =>
      records.filter(isOf(evaluation)).map(({ attributes, id }) => rewardOf(attributes, known.get(id ?? "") ?? {}))
  }
}

/** The ids of a trace and a span, as long as the protocol has them: the bytes of what is remembered are bounded, too. */
const wellFormed = /^[\da-f]{32}\/[\da-f]{16}$/u

const isOf =
  (evaluation: string | undefined) =>
  ({ attributes, name }: Named): boolean =>
    name === names.event && (evaluation === undefined || attributes[names.evaluation] === evaluation)

/** The facts of a span, and those of its ancestors up to the first that has a lease. */
const nearest = (span: Span, byId: ReadonlyMap<string, Span>, known: ReadonlyMap<string, Facts>, depth = 0): Facts => {
  const own = factsOf(span)
  if (own.lease !== undefined || span.parent === null || depth === deepest) return own
  const parent = byId.get(span.parent)
  const further = parent === undefined ? known.get(span.parent) : nearest(parent, byId, known, depth + 1)
  return { ...further, ...own }
}

/** Ancestors that are looked at; the parents of a malformed trace may be in a circle. */
const deepest = 64

const factsOf = ({ attributes, events, seconds }: Span): Facts => {
  const lease = [attributes, ...events.map((event) => event.attributes)]
    .map((some) => some[names.lease])
    .find((value) => typeof value === "string")
  const tokens = numbersOf(attributes, [names.inputTokens, names.outputTokens])
  const [usd] = numbersOf(attributes, [names.cost])
  return {
    ...(lease === undefined ? {} : { lease }),
    // The span with the lease is that of its work.
    ...(lease === undefined || seconds <= 0 ? {} : { metrics: { latency: seconds } }),
    ...(tokens.length === 0 ? {} : { tokens: Math.round(tokens.reduce((sum, one) => sum + one)) }),
    ...(usd === undefined ? {} : { usd })
  }
}

const numbersOf = (attributes: Attributes, keys: ReadonlyArray<string>): ReadonlyArray<number> =>
  keys.flatMap((key) => {
    const value = attributes[key]
    return typeof value === "number" && value >= 0 ? [value] : []
  })

const rewardOf = (attributes: Attributes, { lease, ...used }: Facts): Found => {
  const own = attributes[names.lease] ?? lease
  if (own === undefined) return Result.fail(noLease)
  const feedback = attributes[names.explanation]
  const reward = decodeReward({
    ...used,
    lease: own,
    value: attributes[names.score],
    ...(typeof feedback === "string" ? { feedback: feedback.slice(0, Limits.feedbackLength) } : {})
  })
  return Result.mapError(reward, ({ message }) => `an evaluation is no reward: ${message}`)
}

const decodeReward = Schema.decodeUnknownResult(Reward)

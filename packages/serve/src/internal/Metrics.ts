/** What a server measures of its populations, for Prometheus. */
import { Clock, Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import type { Evolving } from "../Evolving.ts"
import type { LivePopulation } from "../LivePopulation.ts"
import { Outcome } from "../Reward.ts"
import * as View from "./View.ts"

/** What is counted of a population. */
export interface Counters {
  /** Counts leases that were given out, or given again. */
  readonly leased: (count: number) => Effect.Effect<void>
  /** Counts what became of rewards. */
  readonly rewarded: (outcomes: ReadonlyArray<Outcome>) => Effect.Effect<void>
}

/** Made once for a population: a series is found by its name at each update, which takes long to write. */
export const counters = (population: string): Counters => {
  const leased = Metric.withAttributes(leases, { population })
  const rewarded = new Map(
    Outcome.literals.map((outcome) => [outcome, Metric.withAttributes(rewards, { population, outcome })])
  )
  return {
    leased: (count) => Metric.update(leased, count),
    rewarded: Effect.fnUntraced(function* (outcomes) {
      for (const [outcome, series] of rewarded) {
        const count = outcomes.filter((one) => one === outcome).length
        if (count > 0) yield* Metric.update(series, count)
      }
    })
  }
}

/** A population that is gone is measured no more. */
export const forget = ({ name }: Named): Effect.Effect<void> =>
  Effect.map(Metric.MetricRegistry, (registry) => {
    for (const [series, { attributes, id }] of registry)
      if (id.startsWith(prefix) && attributes?.["population"] === name) registry.delete(series)
  })

/** How long a command takes until it is durable, from when it was handed over. */
export const timed = <A, E>(command: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    const began = yield* Clock.currentTimeNanos
    const answer = yield* command
    yield* Metric.update(commits, Number((yield* Clock.currentTimeNanos) - began) / 1e9)
    return answer
  })

/** All of them as Prometheus reads them. */
export const format = Effect.fnUntraced(function* (populations: ReadonlyArray<Measured>) {
  for (const { evolving, live, name } of populations) {
    const state = yield* live.state
    const { cohorts, members } = View.snapshotOf(state)
    const set = (gauge: typeof open, value: number) =>
      Metric.update(Metric.withAttributes(gauge, { population: name }), value)
    const samples = members.reduce((sum, one) => sum + one.samples, 0)
    const reported = members.reduce((sum, one) => sum + one.reported, 0)
    yield* set(open, cohorts.length)
    yield* set(alive, members.length)
    yield* set(missing, samples === 0 ? 0 : 1 - reported / samples)
    yield* set(frozen, state.isFrozen ? 1 : 0)
    yield* set(degraded, (yield* evolving.degraded).length === 0 ? 0 : 1)
  }
  return yield* PrometheusMetrics.format()
})

interface Named {
  readonly name: string
}

interface Measured extends Named {
  readonly live: LivePopulation
  readonly evolving: Evolving
}

/** The names of all metrics begin so. */
const prefix = "inspo_"

const leases = Metric.counter("inspo_leases_total", { description: "Leases given out", incremental: true })
const rewards = Metric.counter("inspo_rewards_total", {
  description: "Rewards by what became of them",
  incremental: true
})
const commits = Metric.histogram("inspo_commit_seconds", {
  description: "Seconds until a command is durable",
  boundaries: Metric.exponentialBoundaries({ start: 0.0005, factor: 2, count: 16 })
})
const open = Metric.gauge("inspo_open_cohorts", { description: "Cohorts that are not closed" })
const alive = Metric.gauge("inspo_members", { description: "Instructions that are alive" })
const missing = Metric.gauge("inspo_missing_rewards_share", {
  description: "Share of the samples of closed cohorts that nobody rewarded"
})
const frozen = Metric.gauge("inspo_frozen", { description: "1 while nothing is decided" })
const degraded = Metric.gauge("inspo_degraded", { description: "1 while something keeps a population from evolving" })

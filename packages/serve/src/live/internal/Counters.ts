/** Counts the leases and rewards of a population, for Prometheus. */
import { Effect, Metric } from "effect"
import { Outcome } from "../../wire/Lease.ts"

export interface Counters {
  /** Counts leases that were given out, or given out again. */
  readonly leased: (count: number) => Effect.Effect<void>
  /** Counts rewards by their outcomes. */
  readonly rewarded: (outcomes: ReadonlyArray<Outcome>) => Effect.Effect<void>
}

/** Made once for a population: finding a series by its name at each update takes long. */
export const make = (population: string): Counters => {
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

const leases = Metric.counter("inspo_leases_total", { description: "Leases given out", incremental: true })
const rewards = Metric.counter("inspo_rewards_total", { description: "Rewards by their outcome", incremental: true })

/** Measures populations, for Prometheus. */
import { Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import type { Served } from "../../live/Populations.ts"
import * as View from "../../live/View.ts"

/** Drops the series of a removed population. */
export const forget = ({ name }: Pick<Served, "name">): Effect.Effect<void> =>
  Effect.map(Metric.MetricRegistry, (registry) => {
    for (const [series, { attributes, id }] of registry)
      if (id.startsWith(prefix) && attributes?.["population"] === name) registry.delete(series)
  })

/** All metrics in the text format of Prometheus. */
export const format = Effect.fnUntraced(function* (populations: ReadonlyArray<Served>) {
  for (const { evolving, live, name } of populations) {
    const state = yield* live.state
    const { cohorts, members } = View.snapshotOf(live.decides, state)
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

/** The names of all metrics begin with it. */
const prefix = "inspo_"

const open = Metric.gauge("inspo_open_cohorts", { description: "Cohorts that are not closed" })
const alive = Metric.gauge("inspo_members", { description: "Living instructions" })
const missing = Metric.gauge("inspo_missing_share", {
  description: "Share of the samples of closed cohorts without a reward"
})
const frozen = Metric.gauge("inspo_frozen", { description: "1 while nothing is decided" })
const degraded = Metric.gauge("inspo_degraded", { description: "1 while a fault keeps a population from evolving" })

/** Measures populations, for Prometheus. */
import type { State, Strategies } from "@inspo/cohorts"
import type { Journal, JournalError } from "@inspo/journal"
import { Clock, Context, Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import type { PopulationStore } from "../../store/PopulationStore.ts"
import { Outcome } from "../../wire/Lease.ts"
import * as View from "../View.ts"

/** Counts the leases and rewards of one population. */
export type Counters = Effect.Success<ReturnType<typeof counters>>

/** Made once for a population: finding a series by its name at each update takes long. */
export const counters = (population: string) => {
  const count = (id: string, description: string, attributes: Readonly<Record<string, string>>) =>
    Metric.counter(id, { description, incremental: true, attributes: { population, ...attributes } })
  const leases = count("inspo_leases_total", "Leases given out", {})
  const rewards = new Map(
    Outcome.literals.map((outcome) => [outcome, count("inspo_rewards_total", "Rewards by their outcome", { outcome })])
  )
  return Effect.map(Effect.context(), (context) => ({
    /** Counts leases that were given out, or given out again. */
    leased: (count: number): void => leases.updateUnsafe(count, context),
    /** Counts rewards by their outcomes. */
    rewarded: (results: ReadonlyArray<{ readonly outcome: Outcome }>): void => {
      for (const { outcome } of results) rewards.get(outcome)?.updateUnsafe(1, context)
    }
  }))
}

/** Measures how long commands take until they are durable. */
export const timing = Effect.map(Effect.context(), (context) => {
  const now = () => Context.get(context, Clock.Clock).currentTimeNanosUnsafe()
  return { now, since: (began: bigint): void => commits.updateUnsafe(Number(now() - began) / 1e9, context) }
})

const commits = Metric.histogram("inspo_commit_seconds", {
  description: "Seconds until a command is durable",
  boundaries: Metric.exponentialBoundaries({ start: 0.0005, factor: 2, count: 16 })
})

/** Counts faults of the server, and logs them at most once a minute. */
export const faults = Effect.fnUntraced(function* (kind: "storage" | "defect") {
  const count = Metric.withAttributes(faulty, { kind })
  let logged = -Infinity
  yield* Metric.update(count, 0)
  return Effect.fnUntraced(function* (message: string) {
    yield* Metric.update(count, 1)
    const now = yield* Clock.currentTimeMillis
    if (now - logged < 60_000) return
    logged = now
    yield* Effect.logError(message)
  })
})

/** Stores, and the journals of them, whose failures are counted and logged, except that another server has a journal. */
export const countingFaults = Effect.map(faults("storage"), (note) => {
  const counted = <A, R>(effect: Effect.Effect<A, JournalError, R>) =>
    Effect.tapError(effect, ({ message, reason }) =>
      reason === "fenced" || reason === "locked" ? Effect.void : note(`a journal could not be used: ${message}`)
    )
  const ofJournal = (journal: Journal.Interface): Journal.Interface => ({
    meta: journal.meta,
    append: (events) => counted(journal.append(events)),
    read: counted(journal.read),
    readFrom: (sequence, limit) => counted(journal.readFrom(sequence, limit)),
    readIntact: counted(journal.readIntact),
    putRecords: (kind, step, rows) => counted(journal.putRecords(kind, step, rows)),
    commit: (events, records) => counted(journal.commit(events, records)),
    getRecord: (kind, key) => counted(journal.getRecord(kind, key)),
    getRecords: (kind, keys) => counted(journal.getRecords(kind, keys)),
    listRecords: (kind, step) => counted(journal.listRecords(kind, step)),
    recordKinds: counted(journal.recordKinds),
    listKeys: (kind) => counted(journal.listKeys(kind)),
    deleteRecords: (kinds, which) => counted(journal.deleteRecords(kinds, which)),
    eraseDeleted: counted(journal.eraseDeleted),
    charge: (entry) => counted(journal.charge(entry)),
    reserve: (entries) => counted(journal.reserve(entries)),
    settle: (settlements) => counted(journal.settle(settlements)),
    ledger: counted(journal.ledger)
  })
  return (store: PopulationStore.Interface): PopulationStore.Interface => ({
    names: counted(store.names),
    make: (name) => Effect.map(counted(store.make(name)), ofJournal),
    open: (name) => Effect.map(counted(store.open(name)), ofJournal),
    remove: (name) => counted(store.remove(name))
  })
})

const faulty = Metric.counter("inspo_faults_total", {
  description: "Failures of storage, and defects, by kind",
  incremental: true
})

interface Measured {
  readonly name: string
  readonly live: { readonly state: Effect.Effect<State.State>; readonly decides: Strategies.Decides }
  readonly evolving: { readonly degraded: Effect.Effect<ReadonlyArray<unknown>> }
}

/** Drops the series of a removed population. */
export const forget = ({ name }: Pick<Measured, "name">): Effect.Effect<void> =>
  Effect.map(Metric.MetricRegistry, (registry) => {
    for (const [series, { attributes, id }] of registry)
      if (id.startsWith(prefix) && attributes?.["population"] === name) registry.delete(series)
  })

/** All metrics in the text format of Prometheus. */
export const format = Effect.fnUntraced(function* (populations: ReadonlyArray<Measured>) {
  for (const { evolving, live, name } of populations) {
    const state = yield* live.state
    const { cohorts, members, sampleRatio } = View.snapshotOf(live.decides, state)
    const set = (gauge: typeof open, value: number) =>
      Metric.update(Metric.withAttributes(gauge, { population: name }), value)
    const samples = members.reduce((sum, one) => sum + one.samples, 0)
    const lost = members.reduce((sum, one) => sum + one.samples * one.missing, 0)
    yield* set(open, cohorts.length)
    yield* set(alive, members.length)
    yield* set(paused, members.filter(({ broken }) => broken !== null).length)
    yield* set(missing, samples === 0 ? 0 : lost / samples)
    yield* set(ratio, sampleRatio.evidence)
    yield* set(frozen, state.isFrozen ? 1 : 0)
    yield* set(degraded, (yield* evolving.degraded).length === 0 ? 0 : 1)
  }
  return yield* PrometheusMetrics.format()
})

/** The names of all metrics begin with it. */
const prefix = "inspo_"

const open = Metric.gauge("inspo_open_cohorts", { description: "Cohorts that are not closed" })
const alive = Metric.gauge("inspo_members", { description: "Living instructions" })
const paused = Metric.gauge("inspo_broken_guardrails", { description: "Instructions that break a guardrail" })
const missing = Metric.gauge("inspo_missing_share", {
  description: "Share of the samples of closed cohorts without a reward"
})
const ratio = Metric.gauge("inspo_sample_ratio_evidence", {
  description: "Evidence that leases are not as frequent as their probabilities: an alarm from 100 on"
})
const frozen = Metric.gauge("inspo_frozen", { description: "1 while nothing is decided" })
const degraded = Metric.gauge("inspo_degraded", { description: "1 while a fault keeps a population from evolving" })

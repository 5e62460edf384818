/** The status of a population's evolution in its journal: what it waits for in vain, what was skipped, and what it cost. */
import { type Journal, type JournalError, Records } from "@inspo/journal"
import { Clock, Effect, Ref, Schema } from "effect"

/** A fault and how to fix it; `since` in milliseconds since 1970. */
export const Degraded = Schema.Struct({ since: Schema.Finite, reason: Schema.String, remedy: Schema.String })
export interface Degraded extends Schema.Schema.Type<typeof Degraded> {}

/** An evolution that did not take place; `at` in milliseconds since 1970. */
export const Skipped = Schema.Struct({ at: Schema.Finite, reason: Schema.String })
export interface Skipped extends Schema.Schema.Type<typeof Skipped> {}

export interface EvolutionStatus {
  readonly degraded: Effect.Effect<ReadonlyArray<Degraded>>
  readonly skipped: Effect.Effect<Skipped | null>
  /** Stores a fault; `since` stays that of the first one until evolution has recovered. */
  readonly degrade: (fault: Omit<Degraded, "since">) => Effect.Effect<void, JournalError>
  readonly recovered: Effect.Effect<void, JournalError>
  readonly skip: (reason: string) => Effect.Effect<void, JournalError>
}

/** The durable status in a journal. */
export const open = Effect.fnUntraced(function* (
  journal: Journal.Interface
): Effect.fn.Return<EvolutionStatus, JournalError> {
  const degraded = yield* slot(journal, "degraded", Degraded)
  const skipped = yield* slot(journal, "skipped", Skipped)
  return {
    degraded: Effect.map(degraded.get, (one) => (one === null ? [] : [one])),
    skipped: skipped.get,
    degrade: Effect.fnUntraced(function* (fault) {
      const known = yield* degraded.get
      const since = known?.since ?? (yield* Clock.currentTimeMillis)
      if (known?.reason !== fault.reason) yield* Effect.logWarning(`evolution waits: ${fault.reason}`)
      if (known?.reason !== fault.reason || known.remedy !== fault.remedy) yield* degraded.set({ ...fault, since })
    }),
    recovered: Effect.flatMap(degraded.get, (one) => (one === null ? Effect.void : degraded.set(null))),
    skip: (reason) => Effect.flatMap(Clock.currentTimeMillis, (at) => skipped.set({ at, reason }))
  }
})

/** What proposals have cost, in US dollars; null if tokens were paid for at an unknown price. */
export const spentUsd = (journal: Journal.Interface): Effect.Effect<number | null, JournalError> =>
  Effect.map(journal.ledger, (totals) => {
    const own = totals.filter(({ phase }) => phase === "proposing")
    const usd = own.reduce((sum, one) => sum + one.usd, 0)
    return usd === 0 && own.some(({ tokens }) => tokens > 0) ? null : usd
  })

/** The last value of a kind, also kept in memory. A value is stored before the one that it replaces is deleted. */
const slot = Effect.fnUntraced(function* <A, I>(journal: Journal.Interface, kind: string, schema: Schema.Codec<A, I>) {
  const stored = (yield* journal.listRecords(kind)).at(-1)
  const decode = Records.decoder(journal, kind, Schema.NullOr(schema))
  const value = yield* Ref.make(stored === undefined ? null : yield* decode(stored.key, stored.value))
  let step = stored?.step ?? 0
  return {
    get: Ref.get(value),
    set: Effect.fnUntraced(function* (next: A | null) {
      const later = step + 1
      yield* journal.putRecords(kind, later, [{ key: String(later), value: next }])
      step = later
      yield* Ref.set(value, next)
      yield* journal.deleteRecords([kind], { before: later })
    })
  }
})

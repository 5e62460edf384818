/** What is told of an evolution beside the log: what it waits for in vain, and why one did not take place. */
import { type Journal, type JournalError, Records } from "@inspo/journal"
import { Clock, Effect, Ref, Schema } from "effect"

/** What goes wrong and how to mend it; `since` in milliseconds since 1970. */
export const Degraded = Schema.Struct({ since: Schema.Finite, reason: Schema.String, remedy: Schema.String })
export interface Degraded extends Schema.Schema.Type<typeof Degraded> {}

/** An evolution that did not take place; `at` in milliseconds since 1970. */
export const Skipped = Schema.Struct({ at: Schema.Finite, reason: Schema.String })
export interface Skipped extends Schema.Schema.Type<typeof Skipped> {}

export interface Notes {
  readonly degraded: Effect.Effect<ReadonlyArray<Degraded>>
  readonly skipped: Effect.Effect<Skipped | null>
  /** Something goes wrong; `since` stays that of the first time until it is over. */
  readonly degrade: (fault: Omit<Degraded, "since">) => Effect.Effect<void, JournalError>
  readonly recovered: Effect.Effect<void, JournalError>
  readonly skip: (reason: string) => Effect.Effect<void, JournalError>
}

/** The notes in a journal, which last. */
export const open = Effect.fnUntraced(function* (journal: Journal.Interface): Effect.fn.Return<Notes, JournalError> {
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

/** What proposals have cost, in US dollars. */
export const spentUsd = (journal: Journal.Interface): Effect.Effect<number, JournalError> =>
  Effect.map(journal.ledger, (totals) =>
    totals.reduce((sum, { phase, usd }) => (phase === "proposing" ? sum + usd : sum), 0)
  )

const kind = "note"

/** A value under one key, kept in memory, too. */
const slot = Effect.fnUntraced(function* <A, I>(journal: Journal.Interface, key: string, schema: Schema.Codec<A, I>) {
  const stored = (yield* Records.make(journal, kind, schema).get([key])).get(key) ?? null
  const value = yield* Ref.make<A | null>(stored)
  return {
    get: Ref.get(value),
    set: Effect.fnUntraced(function* (next: A | null) {
      yield* journal.deleteRecords([kind], { prefixes: [key] })
      if (next !== null) yield* journal.putRecords(kind, 0, [{ key, value: next }])
      yield* Ref.set(value, next)
    })
  }
})

/** What a run had committed and spent by its last commit, in a file beside the journal that outlives it. */
import { type Expense, type Journal, JournalError, type LedgerEntry, type LedgerTotal } from "@inspo/journal"
import { Ledger } from "@inspo/ledger"
import { Array as Arr, Effect, FileSystem, Ref, Schema, Semaphore } from "effect"
import { systemWords } from "../Failure.ts"
import { filesOf } from "./Files.ts"
import * as Regular from "./Regular.ts"
import { replacement } from "./Write.ts"

const amounts = ["rollouts", "tokens", "calls", "usd", "seconds"] as const

/** Events that were committed, and amounts by phase: settled, or reserved if not settled yet. */
export const Spent = Schema.Struct({
  events: Schema.Natural,
  phases: Schema.Record(Schema.String, Ledger.Amounts)
})
export interface Spent extends Schema.Schema.Type<typeof Spent> {}

const SpentJson = Schema.fromJsonString(Spent)

/** The file of a run directory; null if there is none. */
export const readSpent = Effect.fnUntraced(function* (directory: string) {
  const file = filesOf(directory).spent
  return yield* Regular.readDocument(
    file,
    SpentJson,
    (message) =>
      `${file} cannot be read: ${message}. Restore it from a copy, or remove it; spending that only this file records is then lost.`
  )
})

/** What a ledger lacks of what was spent, as expenses to book; sums of money and time may differ in their last digits. */
export const unbooked = (spent: Spent, ledger: ReadonlyArray<LedgerTotal>): ReadonlyArray<LedgerEntry> => {
  const booked = new Map(ledger.map((total) => [total.phase, total]))
  return Object.entries(spent.phases).flatMap(([phase, most]) => {
    const less = booked.get(phase) ?? Ledger.nothing
    const missing = each((amount) =>
      most[amount] - less[amount] > 1e-6 * most[amount] ? most[amount] - less[amount] : 0
    )
    return amounts.some((amount) => missing[amount] > 0) ? [{ ...missing, phase, redone: false }] : []
  })
}

/**
 * A journal that notes what was committed and spent before it acknowledges a commit. The note never exceeds the journal: what
 * a commit adds is noted after it, what a settlement subtracts before it. `events` is the number of events in the journal.
 */
export const noted = Effect.fnUntraced(function* (
  journal: Journal["Service"],
  directory: string,
  events: number
): Effect.fn.Return<Journal["Service"], JournalError, FileSystem.FileSystem> {
  const file = filesOf(directory).spent
  const fs = yield* FileSystem.FileSystem
  const alone = yield* Semaphore.make(1)
  const totals = yield* journal.ledger
  const spent = yield* Ref.make<Spent>({
    events,
    phases: Object.fromEntries(totals.map((total) => [total.phase, each((amount) => total[amount])]))
  })
  const reserved = new Map<number, Booking>()

  const write = alone.withPermit(
    Effect.flatMap(Ref.get(spent), (now) => replacement(file, `${JSON.stringify(now)}\n`)).pipe(
      Effect.provideService(FileSystem.FileSystem, fs),
      Effect.mapError(
        (cause) => new JournalError({ reason: "storage", file, sequence: null, detail: systemWords(cause), cause })
      )
    )
  )
  const note = (change: (before: Spent) => Spent) => Effect.andThen(Ref.update(spent, change), write)
  const book = (bookings: ReadonlyArray<Booking>) =>
    bookings.some(({ expense }) => amounts.some((amount) => expense[amount] !== 0))
      ? note((before) => ({ ...before, phases: bookings.reduce(booked, before.phases) }))
      : Effect.void

  yield* write
  return {
    ...journal,
    append: (added) =>
      Effect.andThen(
        journal.append(added),
        note((before) => ({ ...before, events: before.events + added.length }))
      ),
    charge: (entry) => Effect.andThen(journal.charge(entry), book([{ phase: entry.phase, expense: entry }])),
    reserve: (entries) =>
      Effect.tap(journal.reserve(entries), (ids) => {
        const bookings = entries.map((expense) => ({ phase: expense.phase, expense }))
        for (const [id, booking] of Arr.zip(ids, bookings)) reserved.set(id, booking)
        return book(bookings)
      }),
    settle: (settlements) => {
      const changes = settlements.flatMap((cost) => {
        const open = reserved.get(cost.id)
        reserved.delete(cost.id)
        return open === undefined
          ? []
          : [{ phase: open.phase, expense: each((amount) => cost[amount] - open.expense[amount]) }]
      })
      const part = (of: (change: number) => number) =>
        book(changes.map(({ expense, phase }) => ({ phase, expense: each((amount) => of(expense[amount])) })))
      return part((change) => Math.min(0, change)).pipe(
        Effect.andThen(journal.settle(settlements)),
        Effect.andThen(part((change) => Math.max(0, change)))
      )
    }
  }
})

interface Booking {
  readonly phase: string
  readonly expense: Expense
}

const booked = (phases: Spent["phases"], { expense, phase }: Booking): Spent["phases"] => ({
  ...phases,
  [phase]: Ledger.add(phases[phase] ?? Ledger.nothing, expense)
})

const each = (of: (amount: (typeof amounts)[number]) => number): Expense => ({
  rollouts: of("rollouts"),
  tokens: of("tokens"),
  calls: of("calls"),
  usd: of("usd"),
  seconds: of("seconds")
})

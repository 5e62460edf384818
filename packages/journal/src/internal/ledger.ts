/** The ledger of a journal: expenses, reservations, and settlements that name a reservation, as the rows of a table. */
import { Effect } from "effect"
import type { Expense, Journal, JournalError, LedgerTotal, Reservation } from "../Journal.ts"
import { checkEntry, checkReservation, checkSettlement, type Store } from "./input.ts"

/** A row of the ledger by its number from 1. `key` is that of a reservation, `settles` the number of the one that it settles. */
export interface LedgerRow extends Expense {
  readonly entry: number
  readonly phase: string
  readonly key: string | null
  readonly settles: number | null
  readonly redone: boolean
}

/** What a decision on new rows asks of those that are there. */
export interface LedgerQuery<E> {
  /** The number that the next row takes. */
  readonly next: number
  /** The {@link reservationName}s of those that were reserved before. */
  readonly reserved: (reservations: ReadonlyArray<Reservation>) => Effect.Effect<ReadonlySet<string>, E>
  /** The reservations among those with some numbers that are not settled. */
  readonly open: (entries: ReadonlyArray<number>) => Effect.Effect<ReadonlyMap<number, Settled>, E>
}

/** What a settlement takes over of the reservation that it settles. */
export type Settled = Pick<LedgerRow, "phase" | "redone">

/** The table of a ledger: `add` stores the rows that are decided on what is there, all or none. */
export interface LedgerTable<E> extends Store {
  readonly add: <A>(
    decide: (now: LedgerQuery<E>) => Effect.Effect<readonly [ReadonlyArray<LedgerRow>, A], E | JournalError>
  ) => Effect.Effect<A, JournalError>
  readonly totals: Journal.Interface["ledger"]
}

export const make = <E>(
  table: LedgerTable<E>
): Pick<Journal.Interface, "charge" | "reserve" | "settle" | "ledger"> => ({
  charge: Effect.fn("Journal.charge")(function* (expense) {
    const valid = yield* checkEntry(table, expense)
    yield* table.add(({ next }) =>
      Effect.succeed([[{ ...valid, entry: next, key: null, settles: null }], undefined] as const)
    )
  }),
  reserve: Effect.fn("Journal.reserve")(function* (entries) {
    if (entries.length === 0) return []
    const valid = yield* Effect.forEach(entries, (entry) => checkReservation(table, entry))
    return yield* table.add(({ next, reserved }) =>
      Effect.map(reserved(valid), (before) => {
        const names = new Set<string>()
        const rows = valid.map((reservation, index): LedgerRow => {
          const name = reservationName(reservation)
          const redone = before.has(name) || names.has(name)
          names.add(name)
          return { ...reservation, entry: next + index, settles: null, redone }
        })
        return [rows, rows.map(({ entry }) => entry)] as const
      })
    )
  }),
  settle: Effect.fn("Journal.settle")(function* (settlements) {
    if (settlements.length === 0) return
    const valid = yield* Effect.forEach(settlements, (settlement) => checkSettlement(table, settlement))
    yield* table.add(({ next, open }) =>
      Effect.gen(function* () {
        const left = yield* open(valid.map(({ id }) => id))
        const settled = new Set<number>()
        const rows: Array<LedgerRow> = []
        for (const { id, ...spent } of valid) {
          const reservation = settled.has(id) ? undefined : left.get(id)
          if (reservation === undefined)
            return yield* table.error(
              "invalid",
              `reservation ${id} is not open; expected the id of one that is not settled`
            )
          settled.add(id)
          const { phase, redone } = reservation
          rows.push({ ...spent, entry: next + rows.length, phase, key: null, settles: id, redone })
        }
        return [rows, undefined] as const
      })
    )
  }),
  ledger: Effect.withSpan(table.totals, "Journal.ledger")
})

/** One name for a reservation by phase and key. */
export const reservationName = ({ key, phase }: Pick<Reservation, "phase" | "key">): string =>
  JSON.stringify([phase, key])

/** The sums of each phase, by name, of rows without the reservations that are settled. */
export const totals = (
  rows: ReadonlyArray<Expense & Settled & { readonly isOpen: boolean }>
): ReadonlyArray<LedgerTotal> =>
  [...new Set(rows.map(({ phase }) => phase))].toSorted().map((phase) => {
    const own = rows.filter((row) => row.phase === phase)
    return {
      phase,
      ...sums(own),
      redone: sums(own.filter(({ redone }) => redone)),
      open: sums(own.filter(({ isOpen }) => isOpen))
    }
  })

const sums = (rows: ReadonlyArray<Expense>): Expense => {
  const sum = (amount: keyof Expense) => rows.reduce((total, row) => total + row[amount], 0)
  return {
    rollouts: sum("rollouts"),
    tokens: sum("tokens"),
    calls: sum("calls"),
    usd: sum("usd"),
    seconds: sum("seconds")
  }
}

/** The ledger of a journal in a file of text: expenses, reservations, and settlements that name a reservation, in order. */
import { Effect } from "effect"
import type { Expense, Journal, LedgerTotal } from "../Journal.ts"
import type { FileContents, Rows } from "./fileContents.ts"
import type { LedgerRow } from "./fileLines.ts"
import { checkEntry, checkReservation, checkSettlement, notOpen, reservationName, type Store } from "./input.ts"

export const make = (
  store: Store,
  { state, write }: FileContents
): Pick<Journal.Interface, "charge" | "reserve" | "settle" | "ledger"> => ({
  charge: Effect.fn("Journal.charge")(function* (entry) {
    const valid = yield* checkEntry(store, entry)
    yield* write(() => Effect.succeed([{ ledger: [{ ...valid, key: null, settles: null }] }, undefined] as const))
  }),
  reserve: Effect.fn("Journal.reserve")(function* (entries) {
    const valid = yield* Effect.forEach(entries, (entry) => checkReservation(store, entry))
    return yield* write(({ ledger: { all, reserved } }) => {
      const now = new Set<string>()
      const ledger = valid.map((reservation): LedgerRow => {
        const name = reservationName(reservation)
        const redone = reserved.has(name) || now.has(name)
        now.add(name)
        return { ...reservation, settles: null, redone }
      })
      return Effect.succeed([{ ledger }, ledger.map((_, index) => all.length + index + 1)] as const)
    })
  }),
  settle: Effect.fn("Journal.settle")(function* (settlements) {
    const valid = yield* Effect.forEach(settlements, (settlement) => checkSettlement(store, settlement))
    yield* write(({ ledger: { open } }) => {
      const settled = new Set<number>()
      const rows = Effect.forEach(valid, ({ id, ...spent }) => {
        const reservation = settled.has(id) ? undefined : open.get(id)
        settled.add(id)
        return reservation === undefined
          ? Effect.fail(notOpen(store, id))
          : Effect.succeed({ ...spent, phase: reservation.phase, key: null, settles: id, redone: reservation.redone })
      })
      return Effect.map(rows, (ledger) => [{ ledger }, undefined] as const)
    })
  }),
  ledger: Effect.map(state, ({ ledger }) => totals(ledger))
})

/** The sums of each phase, by name. A settlement takes the place of the reservation that it names. */
const totals = ({ all, open: openRows }: Rows): ReadonlyArray<LedgerTotal> => {
  const open = new Set(openRows.values())
  const counted = all.filter((row) => row.key === null || open.has(row))
  return [...new Set(counted.map(({ phase }) => phase))].toSorted().map((phase) => {
    const own = counted.filter((row) => row.phase === phase)
    return {
      phase,
      ...sums(own),
      redone: sums(own.filter(({ redone }) => redone)),
      open: sums(own.filter((row) => open.has(row)))
    }
  })
}

const sums = (rows: ReadonlyArray<LedgerRow>): Expense => {
  const sum = (amount: keyof Expense) => rows.reduce((total, row) => total + row[amount], 0)
  return {
    rollouts: sum("rollouts"),
    tokens: sum("tokens"),
    calls: sum("calls"),
    usd: sum("usd"),
    seconds: sum("seconds")
  }
}

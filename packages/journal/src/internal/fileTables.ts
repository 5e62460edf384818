/** The answers and the ledger of a journal in a file of text, in memory, as its writes add up to them. */
import { Effect, type Schema, Struct } from "effect"
import type { Journal, JournalError, LedgerTotal } from "../Journal.ts"
import type { LedgerEntry, RecordEntry, Write } from "./fileLines.ts"
import { type LedgerQuery, type LedgerRow, reservationName, totals } from "./ledger.ts"

/** Answers by kind and key; the rows of a ledger, the names of all its reservations, and those that are not settled. */
export interface Tables {
  readonly records: Map<string, Map<string, RecordEntry>>
  readonly ledger: Array<LedgerEntry>
  readonly reserved: Set<string>
  readonly open: Map<number, LedgerEntry>
}

/** What some writes add up to. */
export const of = (writes: ReadonlyArray<Write>): Tables => {
  const tables: Tables = { records: new Map(), ledger: [], reserved: new Set(), open: new Map() }
  for (const write of writes) count(tables, write)
  return tables
}

/** Counts what a further write stores. */
export const count = ({ ledger, open, records, reserved }: Tables, write: Write): void => {
  for (const record of write.records ?? []) add(records, record)
  for (const row of write.ledger ?? []) {
    ledger.push(row)
    if (row.key !== null) {
      reserved.add(reservationName({ phase: row.phase, key: row.key }))
      open.set(ledger.length, row)
    }
    if (row.settles !== null) open.delete(row.settles)
  }
}

/** The records whose key has no answer yet. */
export const fresh = (stored: Tables["records"], records: ReadonlyArray<RecordEntry>): ReadonlyArray<RecordEntry> => {
  const added: Tables["records"] = new Map()
  return records.filter((record) => {
    const { key, kind } = record
    if (stored.get(kind)?.has(key) === true || added.get(kind)?.has(key) === true) return false
    add(added, record)
    return true
  })
}

/** What a journal says of its answers. */
export const reading = (
  tables: Effect.Effect<Tables, JournalError>
): Pick<Journal.Interface, "getRecords" | "listRecords" | "recordKinds" | "listKeys"> => {
  const ofKind = (kind: string) => Effect.map(tables, ({ records }) => records.get(kind))
  const listed = (kind: string) =>
    Effect.map(ofKind(kind), (records) => [...(records?.values() ?? [])].toSorted(byStep))
  return {
    getRecords: (kind, keys) =>
      Effect.map(ofKind(kind), (records) => {
        const found = new Map<string, Schema.Json>()
        for (const key of keys) {
          const record = records?.get(key)
          if (record !== undefined) found.set(key, valueOf(record))
        }
        return found
      }),
    listRecords: (kind, asked) =>
      Effect.map(listed(kind), (records) =>
        records
          .filter(({ step }) => isAsked(asked, step))
          .map((record) => ({ key: record.key, step: record.step, value: valueOf(record) }))
      ),
    recordKinds: Effect.map(tables, ({ records }) => [...records.keys()].toSorted()),
    listKeys: (kind) => Effect.map(listed(kind), (records) => records.map(({ key, step }) => ({ key, step })))
  }
}

/** What is asked of the ledger before rows are added. */
export const query = ({ ledger, open, reserved }: Tables): LedgerQuery<never> => ({
  next: ledger.length + 1,
  reserved: () => Effect.succeed(reserved),
  open: () => Effect.succeed(open)
})

/** The sums of each phase. A settlement takes the place of the reservation that it names. */
export const totalsOf = ({ ledger, open }: Tables): ReadonlyArray<LedgerTotal> => {
  const left = new Set(open.values())
  return totals(ledger.flatMap((row) => (row.key === null || left.has(row) ? [{ ...row, isOpen: left.has(row) }] : [])))
}

/** A row as it is written: its number is its place. */
export const entryOf = (row: LedgerRow): LedgerEntry => Struct.omit(row, ["entry"])

const add = (records: Tables["records"], record: RecordEntry): void => {
  const own = records.get(record.kind) ?? new Map<string, RecordEntry>()
  own.set(record.key, record)
  records.set(record.kind, own)
}

/** A copy, which the user may change. */
const valueOf = ({ value }: RecordEntry): Schema.Json => structuredClone(value)

const isAsked = (asked: Parameters<Journal.Interface["listRecords"]>[1], step: number): boolean =>
  asked === undefined ||
  (typeof asked === "number"
    ? step === asked
    : step >= asked.from && (asked.before === undefined || step < asked.before))

/** By step, then by the code points of the key, as UTF-8 sorts. */
const byStep = (one: RecordEntry, other: RecordEntry): number =>
  one.step - other.step || Buffer.compare(Buffer.from(one.key), Buffer.from(other.key))

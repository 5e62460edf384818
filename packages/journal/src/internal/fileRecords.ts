/** The answers of a journal in a file of text, and its commits. */
import { Effect, Option, type Schema } from "effect"
import type { Journal, RecordGroup } from "../Journal.ts"
import * as Events from "./events.ts"
import { add, type FileContents, type Stored } from "./fileContents.ts"
import type { RecordEntry, Write } from "./fileLines.ts"
import { checkName, checkStep, encode, type Store } from "./input.ts"

export const make = ({
  keep,
  state
}: FileContents): Pick<
  Journal.Interface,
  "getRecord" | "getRecords" | "listRecords" | "recordKinds" | "listKeys" | "deleteRecords" | "eraseDeleted"
> => {
  const ofKind = (kind: string) => Effect.map(state, ({ records }) => records.get(kind))
  const listed = (kind: string) =>
    Effect.map(ofKind(kind), (records) => [...(records?.values() ?? [])].toSorted(byStep))
  return {
    getRecord: (kind, key) =>
      Effect.map(ofKind(kind), (records) => Option.map(Option.fromUndefinedOr(records?.get(key)), valueOf)),
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
    recordKinds: Effect.map(state, ({ records }) => [...records.keys()].toSorted()),
    listKeys: (kind) => Effect.map(listed(kind), (records) => records.map(({ key, step }) => ({ key, step }))),
    deleteRecords: (kinds, which) => {
      const isOld = ({ key, step }: RecordEntry) =>
        "before" in which ? step < which.before : which.prefixes.some((prefix) => key.startsWith(prefix))
      return Effect.as(
        keep((record) => !kinds.includes(record.kind) || !isOld(record)),
        true
      )
    },
    eraseDeleted: Effect.succeed(true)
  }
}

/** All values are checked and written as JSON before anything is stored. */
export const commit = (store: Store, { write }: FileContents): Journal.Interface["commit"] =>
  Effect.fn("Journal.commit")(function* (newEvents, groups) {
    const events = (yield* Events.rowsOf(store, newEvents)).map(({ payload, state, ...event }) => ({
      ...event,
      payload: JSON.parse(payload),
      ...(state === null ? {} : { state })
    }))
    const records = yield* entriesOf(store, groups)
    yield* write((now) => {
      const added = fresh(now.records, records)
      const parts: Write = {
        ...(events.length === 0 ? {} : { events }),
        ...(added.length === 0 ? {} : { records: added })
      }
      return Effect.succeed([parts, undefined] as const)
    })
  })

const entriesOf = Effect.fnUntraced(function* (store: Store, groups: ReadonlyArray<RecordGroup>) {
  const entries: Array<RecordEntry> = []
  for (const { kind, rows, step } of groups) {
    if (rows.length === 0) continue
    yield* checkName(store, "record kind", kind)
    yield* checkStep(store, step)
    for (const { key, value } of rows) {
      yield* checkName(store, "record key", key)
      entries.push({ kind, key, step, value: JSON.parse(yield* encode(store, `the record ${kind} ${key}`, value)) })
    }
  }
  return entries
})

/** Those whose key has no answer yet. */
const fresh = (stored: Stored, records: ReadonlyArray<RecordEntry>): ReadonlyArray<RecordEntry> => {
  const added: Stored = new Map()
  return records.filter((record) => {
    const { key, kind } = record
    if (stored.get(kind)?.has(key) === true || added.get(kind)?.has(key) === true) return false
    add(added, record)
    return true
  })
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

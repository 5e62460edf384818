/** A journal by what its store does: its other operations follow from these. */
import { Effect, Option } from "effect"
import { Journal } from "../Journal.ts"

export interface Operations extends Omit<
  Journal.Interface,
  "append" | "putRecords" | "read" | "readFrom" | "readIntact" | "getRecord"
> {
  /** The events from a sequence number on, at most `limit`, up to the first that is not what was appended. */
  readonly load: (sequence: number, limit?: number) => Journal.Interface["readIntact"]
}

export const make = ({ load, ...own }: Operations): Journal.Interface => {
  const readFrom: Journal.Interface["readFrom"] = Effect.fnUntraced(function* (sequence, limit) {
    const { damage, events } = yield* load(sequence, limit)
    return damage === null ? events : yield* damage
  })
  return Journal.of({
    ...own,
    append: (events) => own.commit(events, []),
    putRecords: (kind, step, rows) => own.commit([], [{ kind, step, rows }]),
    read: readFrom(0),
    readFrom,
    readIntact: load(0),
    getRecord: (kind, key) =>
      Effect.map(own.getRecords(kind, [key]), (records) => Option.fromUndefinedOr(records.get(key)))
  })
}

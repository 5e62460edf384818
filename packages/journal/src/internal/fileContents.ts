/** What a file holds besides its events, and one write after the other. */
import { Effect, Result, Semaphore } from "effect"
import { JournalError, type StoredEvent } from "../Journal.ts"
import * as FileLines from "./fileLines.ts"
import type { Failures } from "./fileLock.ts"
import type { FileStore } from "./fileStore.ts"
import { reservationName } from "./input.ts"

/** Answers by kind and key. */
export type Stored = Map<string, Map<string, FileLines.RecordEntry>>

/** The rows of a ledger, with the names of all reservations, and those that are not settled by number. */
export interface Rows {
  readonly all: Array<FileLines.LedgerRow>
  readonly reserved: Set<string>
  readonly open: Map<number, FileLines.LedgerRow>
}

export interface State {
  readonly end: FileLines.End
  readonly torn: number
  readonly damage: JournalError | null
  readonly records: Stored
  readonly ledger: Rows
}

export interface Loaded extends State {
  readonly events: ReadonlyArray<StoredEvent>
  readonly writes: ReadonlyArray<FileLines.Write>
}

export interface FileContents {
  readonly version: number
  readonly torn: number
  /** Reads the file. */
  readonly load: Effect.Effect<Loaded, JournalError>
  readonly state: Effect.Effect<State, JournalError>
  /** Writes what is decided on the state at that time; gives what goes with it. */
  readonly write: <A>(
    decide: (now: State) => Effect.Effect<readonly [FileLines.Write, A], JournalError>
  ) => Effect.Effect<A, JournalError>
  /** Takes the answers out of the file that are not kept. */
  readonly keep: (isKept: (record: FileLines.RecordEntry) => boolean) => Effect.Effect<void, JournalError>
}

/** The contents of a file that another process may write: read for each question. */
export const followed = (failures: Failures, format: FileLines.Format, store: FileStore): FileContents => {
  const load = loading(failures, format, store)
  const refused = Effect.fail(failures.error("storage", "it was opened for reading only"))
  return { version: format.version, torn: 0, load, state: load, write: () => refused, keep: () => refused }
}

/** The contents of a file that nobody else writes. All but the events, which are many, are known from the beginning. */
export const kept = Effect.fnUntraced(function* (
  failures: Failures,
  format: FileLines.Format,
  store: FileStore
): Effect.fn.Return<FileContents, JournalError> {
  const load = loading(failures, format, store)
  const head = FileLines.headOf(format)
  const turn = yield* Semaphore.make(1)
  let known: State = yield* load
  const { torn } = known
  // A line may follow only what is intact.
  let broken = known.damage
  const inTurn = <A>(writing: Effect.Effect<A, JournalError>) =>
    Effect.suspend(() => broken ?? writing).pipe(Effect.uninterruptible, turn.withPermits(1))

  const put = (added: FileLines.Write) => {
    const { bytes } = known.end
    const { end, text } = FileLines.line(bytes === 0 ? FileLines.begun(head) : known.end, added)
    return store.write(bytes, bytes === 0 ? `${head}${text}` : text).pipe(
      Effect.tapError((failure) => Effect.sync(() => (broken = failure))),
      Effect.map(() => {
        count(known, added)
        known = { ...known, end, torn: 0 }
      })
    )
  }

  return {
    version: format.version,
    torn,
    load,
    state: Effect.sync(() => known),
    write: (decide) =>
      inTurn(
        Effect.gen(function* () {
          const [added, value] = yield* decide(known)
          if (!FileLines.isEmpty(added)) yield* put(added)
          return value
        })
      ),
    keep: (isKept) =>
      inTurn(
        Effect.gen(function* () {
          const { writes } = yield* load
          const left = writes.map(({ records = [], ...others }) => ({ ...others, records: records.filter(isKept) }))
          yield* store.replace(FileLines.textOf(head, left))
          known = yield* load
        })
      )
  }
})

const loading = (failures: Failures, format: FileLines.Format, store: FileStore): Effect.Effect<Loaded, JournalError> =>
  Effect.gen(function* () {
    const contents = FileLines.read(format, yield* store.read)
    if (Result.isFailure(contents)) return yield* foreign(failures, format, contents.failure)
    const { damage, end, torn, writes } = contents.success
    const events = FileLines.eventsOf(writes)
    const state: State = {
      end,
      torn,
      damage: damage === null ? null : damageOf(failures, damage, events.length),
      records: new Map(),
      ledger: { all: [], reserved: new Set(), open: new Map() }
    }
    for (const write of writes) count(state, write)
    return { ...state, events, writes }
  })

const count = ({ ledger: { all, open, reserved }, records }: State, write: FileLines.Write): void => {
  for (const record of write.records ?? []) add(records, record)
  for (const row of write.ledger ?? []) {
    all.push(row)
    if (row.key !== null) {
      reserved.add(reservationName({ phase: row.phase, key: row.key }))
      open.set(all.length, row)
    }
    if (row.settles !== null) open.delete(row.settles)
  }
}

export const add = (records: Stored, record: FileLines.RecordEntry): void => {
  const own = records.get(record.kind) ?? new Map<string, FileLines.RecordEntry>()
  own.set(record.key, record)
  records.set(record.kind, own)
}

const foreign = ({ error }: Failures, { of, version }: FileLines.Format, found: string | null): JournalError =>
  found === null
    ? error("not-a-journal", `is not the file of ${of}; name another one`)
    : found === String(version)
      ? error("corrupt", "line 1 is damaged; restore the file from a copy")
      : error(
          "other-version",
          `has format version ${found}; this version of inspo reads ${version}. Use the version that wrote it, or another file`
        )

const damageOf = ({ file }: Failures, { detail, line }: FileLines.Damage, events: number): JournalError =>
  new JournalError({
    reason: "corrupt",
    file,
    sequence: events,
    intactEvents: events,
    detail:
      `line ${line} ${detail}; the ${line - 1} lines before it are whole. Restore the file from a copy, or go on from a copy of ` +
      "those lines"
  })

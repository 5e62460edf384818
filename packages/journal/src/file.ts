import { Effect, Layer, Result, type Scope, Semaphore } from "effect"
import * as FileLines from "./internal/fileLines.ts"
import * as FileStore from "./internal/fileStore.ts"
import * as FileTables from "./internal/fileTables.ts"
import { checkEvents, checkRecords, errorIn } from "./internal/input.ts"
import * as Ledger from "./internal/ledger.ts"
import * as Operations from "./internal/operations.ts"
import { Journal, JournalError, type Mode, type StoredEvent } from "./Journal.ts"

/** `continue` opens a file that is there, and creates one that is not. `format` is what the file says that it is, if not a journal. */
export interface Options {
  readonly file: string
  readonly mode: Mode | "continue"
  readonly format?: FileLines.Format
}

/** A journal, and the bytes of a last line that a crash cut off before it was acknowledged: the next write takes its place. */
export interface FileJournal extends Journal.Interface {
  readonly torn: number
}

/**
 * A journal in one file of text, without a database: each write is a line of JSON, and the hash of each line covers all lines before it.
 *
 * **Details**
 *
 * A file that is no journal is refused, and never changed. The lock follows the file, whatever names it has.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { Journal } from "@inspo/journal"
 * import { layer } from "@inspo/journal/file"
 *
 * const events = Journal.use((journal) => journal.read).pipe(
 *   Effect.provide(layer({ file: "events.jsonl", mode: "read-only" }))
 * )
 * ```
 */
export const layer = (options: Options): Layer.Layer<Journal, JournalError> => Layer.effect(Journal, open(options))

/** A journal that lasts as long as the layer: for tests, and for work that nobody wants to keep. */
export const layerMemory: Layer.Layer<Journal> = Layer.orDie(
  Layer.effect(
    Journal,
    Effect.suspend(() => {
      const failures = failuresOf(":memory:")
      return Effect.map(writing(failures, journalFormat, FileStore.memory()), (contents) => make(failures, contents))
    })
  )
)

const journalFormat: FileLines.Format = { name: "inspo-journal", version: 1, of: "a journal" }

/** Opens the file of a journal until the scope closes. */
export const open = Effect.fn("FileJournal.open")(function* ({
  file,
  format = journalFormat,
  mode
}: Options): Effect.fn.Return<FileJournal, JournalError, Scope.Scope> {
  const failures = failuresOf(file)
  if (mode === "read-only") return make(failures, following(failures, format, yield* FileStore.reading(failures)))
  const contents = yield* writing(failures, format, yield* FileStore.writing(failures, mode !== "open"))
  if (mode === "create" && !contents.isEmpty)
    return yield* failures.error("exists", "the file exists already; continue it, or name another one")
  if (mode === "open" && contents.isEmpty)
    return yield* failures.error("missing", "the file is empty; no journal has begun")
  return make(failures, contents)
})

const failuresOf = (file: string): FileStore.Failures => {
  const error = errorIn(file)
  return {
    file,
    error,
    attempt: (run) =>
      Effect.tryPromise({
        try: run,
        catch: (cause) => error("storage", cause instanceof Error ? cause.message : String(cause), null, cause)
      })
  }
}

const make = (failures: FileStore.Failures, contents: Contents): FileJournal => {
  const { load, tables, torn, version, write } = contents
  return {
    ...Operations.make({
      meta: { file: failures.file, journalVersion: version },
      load: Effect.fn("Journal.read")(function* (sequence, limit) {
        const { damage, events, first } = yield* load(sequence)
        const from = sequence - first
        return { damage, events: events.slice(from, limit === undefined ? undefined : from + limit) }
      }),
      ...FileTables.reading(tables),
      ...Ledger.make<never>({
        error: failures.error,
        totals: Effect.map(tables, FileTables.totalsOf),
        add: (decide) =>
          write((now) =>
            Effect.map(
              decide(FileTables.query(now)),
              ([rows, value]) => [{ ledger: rows.map(FileTables.entryOf) }, value] as const
            )
          )
      }),
      commit: committing(failures, contents),
      deleteRecords: (kinds, which) => {
        const isOld = ({ key, step }: FileLines.RecordEntry) =>
          "before" in which ? step < which.before : which.prefixes.some((prefix) => key.startsWith(prefix))
        return Effect.as(
          contents.keep((record) => !kinds.includes(record.kind) || !isOld(record)),
          true
        )
      },
      eraseDeleted: Effect.succeed(true)
    }),
    torn
  }
}

/** All values are checked and written as JSON before anything is stored. */
const committing = (failures: FileStore.Failures, { write }: Contents): Journal.Interface["commit"] =>
  Effect.fn("Journal.commit")(function* (newEvents, groups) {
    const events = (yield* checkEvents(failures, newEvents)).map(({ payload, state, ...event }) => ({
      ...event,
      payload: JSON.parse(payload),
      ...(state === null ? {} : { state })
    }))
    const records = (yield* checkRecords(failures, groups)).map(({ text, ...record }) => ({
      ...record,
      value: JSON.parse(text)
    }))
    yield* write((now) => {
      const added = FileTables.fresh(now.records, records)
      const parts: FileLines.Write = {
        ...(events.length === 0 ? {} : { events }),
        ...(added.length === 0 ? {} : { records: added })
      }
      return Effect.succeed([parts, undefined] as const)
    })
  })

/** What a file holds, and one write after the other. */
interface Contents {
  readonly version: number
  readonly torn: number
  readonly isEmpty: boolean
  /** Reads the events from a sequence number on, and perhaps some before them. */
  readonly load: (sequence: number) => Effect.Effect<Loaded, JournalError>
  readonly tables: Effect.Effect<FileTables.Tables, JournalError>
  /** Writes what is decided on the tables at that time; gives what goes with it. */
  readonly write: <A>(
    decide: (now: FileTables.Tables) => Effect.Effect<readonly [FileLines.Write, A], JournalError>
  ) => Effect.Effect<A, JournalError>
  /** Takes the answers out of the file that are not kept. */
  readonly keep: (isKept: (record: FileLines.RecordEntry) => boolean) => Effect.Effect<void, JournalError>
}

/** What was read of a file, with its events from the `first` on. */
interface Loaded extends Omit<FileLines.Contents, "damage"> {
  readonly first: number
  readonly events: ReadonlyArray<StoredEvent>
  readonly damage: JournalError | null
}

/** The contents of a file that nobody else writes. All but the events, which are many, are known from the beginning. */
const writing = Effect.fnUntraced(function* (
  failures: FileStore.Failures,
  format: FileLines.Format,
  store: FileStore.FileStore
): Effect.fn.Return<Contents, JournalError> {
  const whole = loading(failures, format, store)
  const head = FileLines.headOf(format)
  const turn = yield* Semaphore.make(1)
  const found = yield* whole
  const { torn } = found
  // Serves the first question for events, so that a file is not read twice.
  let unread: Loaded | null = found
  // A line may follow only what is intact.
  let { damage: broken, end } = found
  let tables = FileTables.of(found.writes)
  const inTurn = <A>(writing: Effect.Effect<A, JournalError>) =>
    Effect.suspend(() => broken ?? writing).pipe(Effect.uninterruptible, turn.withPermits(1))

  const put = (added: FileLines.Write) => {
    const isFirst = end.bytes === 0
    const next = FileLines.line(isFirst ? FileLines.begun(head) : end, added)
    return store.write(end.bytes, isFirst ? `${head}${next.text}` : next.text).pipe(
      Effect.tapError((failure) => Effect.sync(() => (broken = failure))),
      Effect.map(() => {
        unread = null
        end = next.end
        FileTables.count(tables, added)
      })
    )
  }

  return {
    version: format.version,
    torn,
    isEmpty: end.bytes === 0,
    load: () =>
      Effect.suspend(() => {
        const known = unread
        unread = null
        return known === null ? whole : Effect.succeed(known)
      }),
    tables: Effect.sync(() => tables),
    write: (decide) =>
      inTurn(
        Effect.gen(function* () {
          const [added, value] = yield* decide(tables)
          if (!FileLines.isEmpty(added)) yield* put(added)
          return value
        })
      ),
    keep: (isKept) =>
      inTurn(
        Effect.gen(function* () {
          const { writes } = yield* whole
          const left = writes.map(({ records = [], ...others }) => ({ ...others, records: records.filter(isKept) }))
          yield* store.replace(FileLines.textOf(head, left))
          const now = yield* whole
          unread = null
          end = now.end
          tables = FileTables.of(now.writes)
        })
      )
  }
})

/** The contents of a file that another process may write. What was read is not read again where later events are asked for. */
const following = (failures: FileStore.Failures, format: FileLines.Format, store: FileStore.FileStore): Contents => {
  const whole = loading(failures, format, store)
  const refused = Effect.fail(failures.error("storage", "it was opened for reading only"))
  // Where the last line begins that was read: its hash shows that the file is still the same.
  let mark: { readonly end: FileLines.End; readonly first: number } | null = null
  const marked = (loaded: Loaded): Loaded => {
    const last = loaded.writes.at(-1)?.events ?? []
    const first = loaded.first + loaded.events.length - last.length
    mark = loaded.damage === null && loaded.writes.length > 0 ? { end: loaded.before, first } : null
    return loaded
  }
  return {
    version: format.version,
    torn: 0,
    isEmpty: false,
    load: (sequence) =>
      Effect.gen(function* () {
        if (mark === null || sequence < mark.first) return marked(yield* whole)
        const { end, first } = mark
        const later = FileLines.readFrom(end, yield* store.read(end.bytes))
        if (later.damage === null && later.writes.length > 0) return marked(loadedOf(failures, later, first))
        const all = marked(yield* whole)
        return all.damage === null ? yield* failures.error("corrupt", "another file has its name now") : all
      }),
    tables: Effect.map(whole, ({ writes }) => FileTables.of(writes)),
    write: () => refused,
    keep: () => refused
  }
}

const loading = (
  failures: FileStore.Failures,
  format: FileLines.Format,
  store: FileStore.FileStore
): Effect.Effect<Loaded, JournalError> =>
  Effect.flatMap(store.read(0), (bytes) => {
    const contents = FileLines.read(format, bytes)
    return Result.isFailure(contents)
      ? Effect.fail(foreign(failures, format, contents.failure))
      : Effect.succeed(loadedOf(failures, contents.success, 0))
  })

const loadedOf = (failures: FileStore.Failures, contents: FileLines.Contents, first: number): Loaded => {
  const { damage, writes } = contents
  const events = FileLines.eventsOf(writes, first)
  return { ...contents, first, events, damage: damage === null ? null : damageOf(failures, damage, events.length) }
}

const foreign = (
  { error }: FileStore.Failures,
  { of, version }: FileLines.Format,
  found: string | null
): JournalError =>
  found === null
    ? error("not-a-journal", `is not the file of ${of}; name another one`)
    : found === String(version)
      ? error("corrupt", "line 1 is damaged; restore the file from a copy")
      : error(
          "other-version",
          `has format version ${found}; this version of inspo reads ${version}. Use the version that wrote it, or another file`
        )

const damageOf = (
  { file }: FileStore.Failures,
  { detail, line }: FileLines.Damage,
  intactEvents: number
): JournalError =>
  new JournalError({
    reason: "corrupt",
    file,
    sequence: intactEvents,
    intactEvents,
    detail:
      `line ${line} ${detail}; the ${line - 1} lines before it are whole. Restore the file from a copy, or go on from a copy of ` +
      "those lines"
  })

import { Context, type Effect, type Option, Schema } from "effect"

/**
 * The durable memory of a run: its events in order, the answers it paid for, and what it spent.
 *
 * Everything a method acknowledged survives a crash of the process and of the machine. Values are stored as JSON: they
 * come back as JSON, with `-0` as `0`. A value that JSON cannot hold (`undefined`, `NaN`, a `Date`, a cycle) is refused.
 */
export class Journal extends Context.Service<Journal, Journal.Interface>()("@inspo/journal/Journal") {}

export declare namespace Journal {
  export interface Interface {
    readonly meta: JournalMeta
    /** Adds events at the end: all of them, in this order, or none. */
    readonly append: (events: ReadonlyArray<NewEvent>) => Effect.Effect<void, JournalError>
    /** All events, oldest first. Fails when any of them is not what was appended. */
    readonly read: Effect.Effect<ReadonlyArray<StoredEvent>, JournalError>
    /**
     * The events from `sequence` on, none when there are none yet. Each is checked against the one before it: cheap for
     * following a run that is being written. `limit` is the most that is read.
     */
    readonly readFrom: (sequence: number, limit?: number) => Effect.Effect<ReadonlyArray<StoredEvent>, JournalError>
    /** The events before the first that is not what was appended. */
    readonly readIntact: Effect.Effect<IntactEvents, JournalError>
    /** Stores answers under `(kind, key)`, all or none. A key that is stored already keeps its first answer and step. */
    readonly putRecords: (
      kind: string,
      step: number,
      rows: ReadonlyArray<NewRecord>
    ) => Effect.Effect<void, JournalError>
    /** Appends events and stores answers, all of it or nothing. */
    readonly commit: (
      events: ReadonlyArray<NewEvent>,
      records: ReadonlyArray<RecordGroup>
    ) => Effect.Effect<void, JournalError>
    readonly getRecord: (kind: string, key: string) => Effect.Effect<Option.Option<Schema.Json>, JournalError>
    /** The stored answers among `keys`; keys without an answer are absent. */
    readonly getRecords: (
      kind: string,
      keys: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, Schema.Json>, JournalError>
    /** The answers of one kind, of one step, from one on (and before another), or of all, by step and then by the code points of the key. */
    readonly listRecords: (
      kind: string,
      step?: number | { readonly from: number; readonly before?: number }
    ) => Effect.Effect<ReadonlyArray<StoredRecord>, JournalError>
    /** The kinds under which answers are stored, by name. */
    readonly recordKinds: Effect.Effect<ReadonlyArray<string>, JournalError>
    /** Keys and steps of the stored answers of one kind, in the order of `listRecords`. */
    readonly listKeys: (kind: string) => Effect.Effect<ReadonlyArray<RecordKey>, JournalError>
    /**
     * Forgets answers of some kinds, all or none: those of steps below `before`, or those whose keys begin with one of the
     * `prefixes`. True where nothing of them stays in an SQLite file; false while a reader of the file keeps an older state:
     * then {@link eraseDeleted} until it is true. PostgreSQL keeps what it has not vacuumed.
     */
    readonly deleteRecords: (
      kinds: ReadonlyArray<string>,
      which: { readonly before: number } | { readonly prefixes: ReadonlyArray<string> }
    ) => Effect.Effect<boolean, JournalError>
    /** Removes from the file what was deleted, without waiting for its readers; whether nothing of it is left. */
    readonly eraseDeleted: Effect.Effect<boolean, JournalError>
    /** Books one expense. */
    readonly charge: (entry: LedgerEntry) => Effect.Effect<void, JournalError>
    /**
     * Books work before it is done, all or none, and gives one id per entry, in order: it counts in full until it is
     * settled. Work whose phase and key were reserved before is booked as redone.
     */
    readonly reserve: (entries: ReadonlyArray<Reservation>) => Effect.Effect<ReadonlyArray<number>, JournalError>
    /** Puts what the work cost in the place of what was reserved, all or none. What is settled already is refused. */
    readonly settle: (settlements: ReadonlyArray<Settlement>) => Effect.Effect<void, JournalError>
    /** What was spent, one total for each phase that spent anything, by name. */
    readonly ledger: Effect.Effect<ReadonlyArray<LedgerTotal>, JournalError>
  }
}

/** How to open a journal: `create` a new one, `open` one to go on writing, or `read-only`, also while a run writes to it. */
export type Mode = "create" | "open" | "read-only"

/** The version of the layout that this package reads and writes. Any other is refused. */
export const journalVersion = 2

/** What a journal is. `file` is `:memory:` when nothing is kept, and names database and run where it is not a file. */
export interface JournalMeta {
  readonly file: string
  readonly journalVersion: number
}

/** An event to append. `payload` is any JSON value; `state` identifies what the event led to, where that is known. */
export interface NewEvent {
  readonly type: string
  readonly step: number
  readonly payload: unknown
  readonly state?: string
}

/** An appended event; `sequence` counts from 0 without gaps. `state` is absent where it was not given. */
export interface StoredEvent extends NewEvent {
  readonly sequence: number
  readonly payload: Schema.Json
}

/** Events that are as they were appended; `damage` says where they end and why, or is null when they are all. */
export interface IntactEvents {
  readonly events: ReadonlyArray<StoredEvent>
  readonly damage: JournalError | null
}

/** An answer to store. `value` is any JSON value. */
export interface NewRecord {
  readonly key: string
  readonly value: unknown
}

/** Answers to store under one kind and step. */
export interface RecordGroup {
  readonly kind: string
  readonly step: number
  readonly rows: ReadonlyArray<NewRecord>
}

export interface RecordKey {
  readonly key: string
  readonly step: number
}

export interface StoredRecord extends RecordKey {
  readonly value: Schema.Json
}

const Amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** Amounts of what a run spends: rollouts, tokens and calls as counts, money in US dollars, time in seconds. Never negative. */
export const Expense = Schema.Struct({
  rollouts: Schema.Natural,
  tokens: Schema.Natural,
  calls: Schema.Natural,
  usd: Amount,
  seconds: Amount
})
export interface Expense extends Schema.Schema.Type<typeof Expense> {}

/** One expense. `redone` says that the same work had been paid for before a crash. */
export const LedgerEntry = Schema.Struct({
  ...Expense.fields,
  phase: Schema.NonEmptyString,
  redone: Schema.Boolean
})
export interface LedgerEntry extends Schema.Schema.Type<typeof LedgerEntry> {}

/** The most that a piece of work may cost. `key` names the work within its phase, and is the same when it is redone. */
export const Reservation = Schema.Struct({
  ...Expense.fields,
  phase: Schema.NonEmptyString,
  key: Schema.NonEmptyString
})
export interface Reservation extends Schema.Schema.Type<typeof Reservation> {}

/** What a reserved piece of work did cost; `id` is that of its reservation. */
export const Settlement = Schema.Struct({ ...Expense.fields, id: Schema.Natural })
export interface Settlement extends Schema.Schema.Type<typeof Settlement> {}

/**
 * The sums of one phase, with redone work and what is reserved. `redone` is the part of them that was redone, `open` the
 * part that is reserved and not settled: work in flight, or lost in a crash.
 */
export const LedgerTotal = Schema.Struct({
  ...Expense.fields,
  phase: Schema.String,
  redone: Expense,
  open: Expense
})
export interface LedgerTotal extends Schema.Schema.Type<typeof LedgerTotal> {}

/**
 * Why a journal cannot be used.
 *
 * - `missing`, `exists`: there is no file to open, or there is one where a journal was to be created
 * - `locked`: another run is writing to it
 * - `fenced`: another run took over because this one went silent; nothing it writes counts any more
 * - `not-a-journal`: the file is something else
 * - `other-version`: it, or an event in it, has the format of another version of inspo
 * - `corrupt`: what is stored is not what was written
 * - `invalid`: the value to store is refused
 * - `storage`: the file could not be read or written
 */
export const JournalErrorReason = Schema.Literals([
  "missing",
  "exists",
  "locked",
  "fenced",
  "not-a-journal",
  "other-version",
  "corrupt",
  "invalid",
  "storage"
])
export type JournalErrorReason = typeof JournalErrorReason.Type

/**
 * A journal operation failed. `sequence` is the event concerned, or null; `detail` says what is wrong and how to fix it.
 * `intactEvents` is how many events before the damage can still be read, where that is known.
 */
export class JournalError extends Schema.TaggedError<JournalError>()("JournalError", {
  reason: JournalErrorReason,
  file: Schema.String,
  sequence: Schema.NullOr(Schema.Int),
  detail: Schema.String,
  intactEvents: Schema.optionalKey(Schema.Natural),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    const place = this.sequence === null ? this.file : `${this.file}, event ${this.sequence}`
    return `journal ${place}: ${this.detail}`
  }
}

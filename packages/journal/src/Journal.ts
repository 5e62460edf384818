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
    /** Stores answers under `(kind, key)`, all or none. A key that is stored already keeps its first answer and step. */
    readonly putRecords: (
      kind: string,
      step: number,
      rows: ReadonlyArray<NewRecord>
    ) => Effect.Effect<void, JournalError>
    readonly getRecord: (kind: string, key: string) => Effect.Effect<Option.Option<Schema.Json>, JournalError>
    /** The stored answers among `keys`; keys without an answer are absent. */
    readonly getRecords: (
      kind: string,
      keys: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, Schema.Json>, JournalError>
    /** The answers of one kind, of one step or of all, by step and then by the code points of the key. */
    readonly listRecords: (kind: string, step?: number) => Effect.Effect<ReadonlyArray<StoredRecord>, JournalError>
    /** Books one expense. */
    readonly charge: (entry: LedgerEntry) => Effect.Effect<void, JournalError>
    /** What was spent, one total for each phase that spent anything, by name. */
    readonly ledger: Effect.Effect<ReadonlyArray<LedgerTotal>, JournalError>
  }
}

/** The version of the layout this package writes. A journal with a higher version is refused. */
export const journalVersion = 1

/** What a journal is. `file` is `:memory:` when nothing is kept. */
export interface JournalMeta {
  readonly file: string
  readonly journalVersion: number
}

/** An event to append. `payload` is any JSON value. */
export interface NewEvent {
  readonly type: string
  readonly step: number
  readonly payload: unknown
}

/** An appended event; `sequence` counts from 0 without gaps. */
export interface StoredEvent {
  readonly sequence: number
  readonly type: string
  readonly step: number
  readonly payload: Schema.Json
}

/** An answer to store. `value` is any JSON value. */
export interface NewRecord {
  readonly key: string
  readonly value: unknown
}

export interface StoredRecord {
  readonly key: string
  readonly step: number
  readonly value: Schema.Json
}

/** Amounts of what a run spends: rollouts, tokens and calls as counts, money in US dollars. Never negative. */
export const Expense = Schema.Struct({
  rollouts: Schema.Natural,
  tokens: Schema.Natural,
  calls: Schema.Natural,
  usd: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
})
export interface Expense extends Schema.Schema.Type<typeof Expense> {}

/** One expense. `redone` says that the same work had been paid for before a crash. */
export const LedgerEntry = Schema.Struct({
  ...Expense.fields,
  phase: Schema.NonEmptyString,
  redone: Schema.Boolean
})
export interface LedgerEntry extends Schema.Schema.Type<typeof LedgerEntry> {}

/** The sums of one phase, redone work included; `redone` is the part of them that was redone. */
export interface LedgerTotal extends Expense {
  readonly phase: string
  readonly redone: Expense
}

/**
 * Why a journal cannot be used.
 *
 * - `missing`, `exists`: there is no file to open, or there is one where a journal was to be created
 * - `locked`: another run is writing to it
 * - `not-a-journal`, `newer-version`: the file is something else, or was written by a later version
 * - `corrupt`: what is stored is not what was written
 * - `invalid`: the value to store is refused
 * - `storage`: the file could not be read or written
 */
export const JournalErrorReason = Schema.Literals([
  "missing",
  "exists",
  "locked",
  "not-a-journal",
  "newer-version",
  "corrupt",
  "invalid",
  "storage"
])
export type JournalErrorReason = typeof JournalErrorReason.Type

/** A journal operation failed. `sequence` is the event concerned, or null; `detail` says what is wrong and how to mend it. */
export class JournalError extends Schema.TaggedError<JournalError>()("JournalError", {
  reason: JournalErrorReason,
  file: Schema.String,
  sequence: Schema.NullOr(Schema.Int),
  detail: Schema.String
}) {
  override get message() {
    const place = this.sequence === null ? this.file : `${this.file}, event ${this.sequence}`
    return `journal ${place}: ${this.detail}`
  }
}

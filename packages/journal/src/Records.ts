/** Answers of one kind that a journal keeps, read as what they are. */
import { Effect, Schema } from "effect"
import { type Journal, JournalError } from "./Journal.ts"

export interface Records<A, I> {
  /** Those stored under `keys`; keys without an answer are absent. Fails with `corrupt` where one is of another form. */
  readonly get: (keys: ReadonlyArray<string>) => Effect.Effect<Map<string, A>, JournalError>
  /** Stores all or none; a key that is stored already keeps its first answer. */
  readonly put: (
    step: number,
    rows: ReadonlyArray<{ readonly key: string; readonly value: I }>
  ) => Effect.Effect<void, JournalError>
}

/**
 * The records of one kind.
 *
 * @example
 * ```ts
 * import { Records, Journal } from "@inspo/journal"
 * import { Effect, Schema } from "effect"
 *
 * const scores = Effect.map(Journal, (journal) => Records.make(journal, "score", Schema.Array(Schema.Finite)))
 * ```
 */
export const make = <A, I>(journal: Journal.Interface, kind: string, schema: Schema.Codec<A, I>): Records<A, I> => {
  const decode = decoder(journal, kind, schema)
  const read = Effect.fnUntraced(function* (stored: ReadonlyMap<string, Schema.Json>) {
    const values = new Map<string, A>()
    for (const [key, value] of stored) values.set(key, yield* decode(key, value))
    return values
  })
  return {
    get: (keys) =>
      keys.length === 0 ? Effect.succeed(new Map()) : Effect.flatMap(journal.getRecords(kind, keys), read),
    put: (step, rows) => journal.putRecords(kind, step, rows)
  }
}

/** Reads a stored answer of a kind; fails with `corrupt` where it is of another form. */
export const decoder = <A, I>(
  { meta }: Pick<Journal.Interface, "meta">,
  kind: string,
  schema: Schema.Codec<A, I>
): ((key: string, stored: unknown) => Effect.Effect<A, JournalError>) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (key, stored) =>
    Effect.mapError(decode(stored), (cause) =>
      corrupt(meta, `the ${kind} ${key} cannot be read: ${cause.message}`, { cause })
    )
}

/** That something stored is not what was written; `sequence` is that of an event, `detail` says how to fix it. */
export const corrupt = (
  { file }: Pick<Journal.Interface["meta"], "file">,
  detail: string,
  { sequence = null, ...cause }: { readonly sequence?: number | null; readonly cause?: unknown } = {}
): JournalError => new JournalError({ reason: "corrupt", file, sequence, detail, ...cause })

/** That something stored has the format of another version, which is not converted. */
export const otherVersion = (
  { file }: Pick<Journal.Interface["meta"], "file">,
  {
    expected,
    field,
    sequence = null,
    value
  }: {
    readonly field: string
    readonly value: unknown
    readonly expected: string
    readonly sequence?: number | null
  }
): JournalError =>
  new JournalError({
    reason: "other-version",
    file,
    sequence,
    detail:
      `${field} is ${value === undefined ? "missing" : JSON.stringify(value)}, expected ${expected}. Start again with this version of ` +
      "inspo, or use the version that wrote the journal"
  })

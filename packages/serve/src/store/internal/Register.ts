/** The register of the servers of one database: its populations, and the active server. */
import { type Journal, type JournalError, Records } from "@inspo/journal"
import { Effect, Schema } from "effect"

/** The run of the register's log. The server that has it open for writing is the active one. */
export const run = "instruction-server"

interface Register {
  /** The address of the server that became active last; null before the first. */
  readonly address: string | null
  /** The runs of the populations, by name. */
  readonly populations: ReadonlyMap<string, string>
  /** Runs of removed populations that may not be deleted yet. */
  readonly removed: ReadonlySet<string>
  /** The run of the next new population, which no other has had. */
  readonly nextRun: string
}

const Entry = Schema.Union([
  Schema.TaggedStruct("Activated", { address: Schema.String }),
  Schema.TaggedStruct("Made", { name: Schema.String, run: Schema.String }),
  Schema.TaggedStruct("Removed", { name: Schema.String, run: Schema.String }),
  Schema.TaggedStruct("Deleted", { run: Schema.String })
])
type Entry = typeof Entry.Type

export const append = (journal: Journal.Interface, entry: Entry): Effect.Effect<void, JournalError> =>
  journal.append([{ type: entry._tag, step: 0, payload: entry }])

export const read = Effect.fnUntraced(function* (journal: Journal.Interface): Effect.fn.Return<Register, JournalError> {
  let address: string | null = null
  let made = 0
  const populations = new Map<string, string>()
  const removed = new Set<string>()
  for (const { payload, sequence, type } of yield* journal.read) {
    const entry = yield* Effect.mapError(decode(payload), (cause) =>
      Records.corrupt(journal.meta, `the entry ${type} cannot be read: ${cause.message}`, { sequence, cause })
    )
    switch (entry._tag) {
      case "Activated":
        address = entry.address
        break
      case "Made":
        populations.set(entry.name, entry.run)
        made += 1
        break
      case "Removed":
        populations.delete(entry.name)
        removed.add(entry.run)
        break
      case "Deleted":
        removed.delete(entry.run)
    }
  }
  return { address, populations, removed, nextRun: `${run}.${made}` }
})

const decode = Schema.decodeUnknownEffect(Entry)

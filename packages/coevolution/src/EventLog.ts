import { type Journal, type JournalError, type NewEvent, Records, type StoredEvent } from "@inspo/journal"
import { Effect, Predicate, Schema } from "effect"
import { RunEvent, versions } from "./RunEvent.ts"
import type { RunState } from "./RunState.ts"
import * as StateHash from "./StateHash.ts"

const encodePayload = Schema.encodeEffect(RunEvent)
const decode = Schema.decodeUnknownEffect(RunEvent)

/** A committed event with the recorded hash of the state after it, if any. */
export interface Entry {
  readonly event: RunEvent
  readonly state: string | null
}

/** An event as the journal stores it, with the hash of the state after it. */
export const encode = Effect.fnUntraced(function* (event: RunEvent, after: RunState) {
  const payload = yield* Effect.orDie(encodePayload(event))
  return {
    type: event._tag,
    step: "step" in event ? event.step : 0,
    payload: { ...payload, version: versions[event._tag] },
    state: yield* StateHash.of(after)
  } satisfies NewEvent
})

/** Commits one event; `after` is the state after it. */
export const append = Effect.fnUntraced(function* (journal: Journal.Interface, event: RunEvent, after: RunState) {
  yield* journal.append([yield* encode(event, after)])
})

/** All events of a run, oldest first. Fails with `other-version` on an event of an unknown type or of another version. */
export const read = (journal: Journal.Interface): Effect.Effect<ReadonlyArray<RunEvent>, JournalError> =>
  readFrom(journal, 0)

/** The events from `sequence` on, to follow an active run. */
export const readFrom = (
  journal: Journal.Interface,
  sequence: number
): Effect.Effect<ReadonlyArray<RunEvent>, JournalError> =>
  Effect.map(Effect.flatMap(journal.readFrom(sequence), decodeAll(journal)), (entries) =>
    entries.map(({ event }) => event)
  )

/** All events of a run with their recorded state hashes. */
export const readEntries = (journal: Journal.Interface): Effect.Effect<ReadonlyArray<Entry>, JournalError> =>
  Effect.flatMap(journal.read, decodeAll(journal))

/** The events before the first damaged one, and the error of that one. */
export const readIntact = Effect.fnUntraced(function* (journal: Journal.Interface) {
  const { damage, events } = yield* journal.readIntact
  return { damage, entries: yield* decodeAll(journal)(events) }
})

const decodeAll = (journal: Journal.Interface) => (stored: ReadonlyArray<StoredEvent>) =>
  Effect.forEach(
    stored,
    Effect.fnUntraced(function* ({ payload, sequence, state, type }) {
      const other = otherVersion(type, payload)
      if (other !== null) return yield* Records.otherVersion(journal.meta, { ...other, sequence })
      const event = yield* Effect.mapError(decode(payload), (cause) =>
        Records.corrupt(journal.meta, `the event ${type} cannot be read: ${cause.message}`, { sequence, cause })
      )
      return { event, state: state ?? null } satisfies Entry
    })
  )

const otherVersion = (type: string, payload: unknown) => {
  const known = Object.entries(versions).find(([tag]) => tag === type)?.[1]
  if (known === undefined) return { field: "type", value: type, expected: "an event type that this version writes" }
  const version = Predicate.hasProperty(payload, "version") ? payload.version : undefined
  return version === known ? null : { field: `${type}.version`, value: version, expected: String(known) }
}

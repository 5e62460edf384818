import { type Journal, JournalError, type NewEvent, Records, type StoredEvent } from "@inspo/journal"
import { Effect, Schema } from "effect"
import { completeEvent, isUpgradable, versionOf } from "./Migrations.ts"
import { RunEvent, versions } from "./RunEvent.ts"
import type { RunState } from "./RunState.ts"
import * as StateHash from "./StateHash.ts"

const encodePayload = Schema.encodeEffect(RunEvent)
const decode = Schema.decodeUnknownEffect(RunEvent)

/** An event with the hash of the state it led to when it was committed, where that was recorded. */
export interface Entry {
  readonly event: RunEvent
  readonly state: string | null
}

/** An event as the journal stores it, with the hash of the state it leads to. */
export const encode = Effect.fnUntraced(function* (event: RunEvent, after: RunState) {
  const payload = yield* Effect.orDie(encodePayload(event))
  return {
    type: event._tag,
    step: "step" in event ? event.step : 0,
    payload: { ...payload, version: versions[event._tag] },
    state: yield* StateHash.of(after)
  } satisfies NewEvent
})

/** Commits one event; `after` is the state it leads to. */
export const append = Effect.fnUntraced(function* (journal: Journal.Interface, event: RunEvent, after: RunState) {
  yield* journal.append([yield* encode(event, after)])
})

/**
 * All events of a run, oldest first; those of earlier versions as they would be written today. Fails with `older-version`
 * or `newer-version` on an event of another form that would leave decisions to be guessed.
 */
export const read = (journal: Journal.Interface): Effect.Effect<ReadonlyArray<RunEvent>, JournalError> =>
  readFrom(journal, 0)

/** The events from `sequence` on: for following a run that is being written. */
export const readFrom = (
  journal: Journal.Interface,
  sequence: number
): Effect.Effect<ReadonlyArray<RunEvent>, JournalError> =>
  Effect.map(Effect.flatMap(journal.readFrom(sequence), decodeAll(journal)), (entries) =>
    entries.map(({ event }) => event)
  )

/** All events of a run with the state hashes committed beside them. */
export const readEntries = (journal: Journal.Interface): Effect.Effect<ReadonlyArray<Entry>, JournalError> =>
  Effect.flatMap(journal.read, decodeAll(journal))

/** The events before the first that is damaged, and what is wrong with that one. */
export const readIntact = Effect.fnUntraced(function* (journal: Journal.Interface) {
  const { damage, events } = yield* journal.readIntact
  return { damage, entries: yield* decodeAll(journal)(events) }
})

const decodeAll = (journal: Journal.Interface) => (stored: ReadonlyArray<StoredEvent>) =>
  Effect.forEach(
    stored,
    Effect.fnUntraced(function* ({ payload, sequence, state, type }) {
      const other = otherVersion(type, payload)
      if (other !== null) return yield* new JournalError({ file: journal.meta.file, sequence, ...other })
      const today = yield* Effect.fromResult(completeEvent(payload)).pipe(
        Effect.mapError(
          (cause) =>
            new JournalError({
              file: journal.meta.file,
              sequence,
              reason: "older-version",
              detail: cause.message,
              cause
            })
        )
      )
      const event = yield* Effect.mapError(decode(today), (cause) =>
        Records.corrupt(journal.meta, `this ${type} cannot be read: ${cause.message}`, { sequence, cause })
      )
      return { event, state: state ?? null } satisfies Entry
    })
  )

/** What is wrong with the form of a stored event; null when it is that of today, or can be made so. */
const otherVersion = (type: string, payload: unknown): Pick<JournalError, "reason" | "detail"> | null => {
  const known = Object.entries(versions).find(([tag]) => tag === type)?.[1]
  if (known === undefined)
    return { reason: "newer-version", detail: `this version knows no event ${type}. Use the version that wrote it` }
  const version = versionOf(payload)
  if (version === known || isUpgradable(type, version)) return null
  if (typeof version === "number" && version > known)
    return {
      reason: "newer-version",
      detail: `this ${type} is of version ${version}, and this program knows ${known}. Use the version that wrote it`
    }
  return {
    reason: "older-version",
    detail:
      `this ${type} is of version ${String(version)}, and this program knows ${known}: it does not say all that was decided. ` +
      "Look at the run and go on with it in the version that wrote it, or start it again from its config.json"
  }
}

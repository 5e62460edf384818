import { type Journal, JournalError } from "@inspo/journal"
import { Effect, Schema } from "effect"
import { RunEvent } from "./RunEvent.ts"

const encode = Schema.encodeEffect(RunEvent)
const decode = Schema.decodeUnknownEffect(RunEvent)

/** Commits one event. */
export const append = Effect.fnUntraced(function* (journal: Journal.Interface, event: RunEvent) {
  const payload = yield* Effect.orDie(encode(event))
  yield* journal.append([{ type: event._tag, step: "step" in event ? event.step : 0, payload }])
})

/** All events of a run, oldest first. */
export const read = Effect.fnUntraced(function* (journal: Journal.Interface) {
  const stored = yield* journal.read
  return yield* Effect.forEach(stored, ({ payload, sequence, type }) =>
    Effect.mapError(
      decode(payload),
      (error) =>
        new JournalError({
          reason: "corrupt",
          file: journal.meta.file,
          sequence,
          detail: `this ${type} cannot be read: ${error.message}`
        })
    )
  )
})

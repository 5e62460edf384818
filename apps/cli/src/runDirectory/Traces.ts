import { Trajectory } from "@inspo/domain"
import { type Journal, JournalError } from "@inspo/journal"
import { Effect, Schema, Struct } from "effect"

/** What the policy wrote in one trajectory, turn by turn, without tokens. */
export const Trace = Schema.Struct({
  ...Trajectory.TrajectorySummary.fields,
  ...Struct.pick(Trajectory.Trajectory.fields, ["transcript"])
})
export interface Trace extends Schema.Schema.Type<typeof Trace> {}

/** The traces of all trajectories of a journal, by step and id. */
export const traces = Effect.fn("Traces.traces")(function* (journal: Journal["Service"]) {
  const records = yield* journal.listRecords("trajectory")
  return yield* Effect.forEach(records, ({ key, step, value }) =>
    Effect.mapBoth(decode(value), {
      onSuccess: (trace) => ({ step, ...trace }),
      onFailure: ({ message }) =>
        new JournalError({
          reason: "corrupt",
          file: journal.meta.file,
          sequence: null,
          detail: `the trajectory ${key} cannot be read: ${message}`
        })
    })
  )
})

const decode = Schema.decodeUnknownEffect(Trace)

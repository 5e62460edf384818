import { Trajectory } from "@inspo/domain"
import { Journal, JournalError } from "@inspo/journal"
import { type Episode, Rollout } from "@inspo/rollout"
import { Array as Arr, Effect, Option, Schema } from "effect"

const kind = "trajectory"

const decode = Schema.decodeUnknownEffect(Schema.Array(Trajectory.Trajectory))

/** Trajectories with their tokens and texts, kept in the journal's records. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const rollout = yield* Rollout

  /** The stored trajectories among `ids`, in their order. */
  const read = Effect.fnUntraced(function* (ids: ReadonlyArray<Trajectory.TrajectoryId>) {
    const records = yield* journal.getRecords(kind, ids)
    return yield* decode(Arr.getSomes(ids.map((id) => Option.fromNullishOr(records.get(id))))).pipe(
      Effect.mapError(
        (error) =>
          new JournalError({
            reason: "corrupt",
            file: journal.meta.file,
            sequence: null,
            detail: `a stored trajectory cannot be read: ${error.message}`
          })
      )
    )
  })

  /** One trajectory per episode, in order. Those already paid for are read, the others rolled out and stored on arrival. */
  const collect = Effect.fn("TrajectoryStore.collect")(function* (step: number, episodes: ReadonlyArray<Episode>) {
    const stored = yield* read(episodes.map(({ id }) => id))
    const known = new Map(stored.map((trajectory) => [trajectory.id, trajectory]))
    const missing = episodes.filter(({ id }) => !known.has(id))
    for (const trajectory of yield* rollout.collect(missing)) known.set(trajectory.id, trajectory)
    yield* journal.putRecords(
      kind,
      step,
      missing.map(({ id }) => ({ key: id, value: known.get(id) }))
    )
    return Arr.getSomes(episodes.map(({ id }) => Option.fromNullishOr(known.get(id))))
  })

  return { read, collect }
})

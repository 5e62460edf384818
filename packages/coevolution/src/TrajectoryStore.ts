import { Trajectory } from "@inspo/domain"
import { Journal, JournalError } from "@inspo/journal"
import { type Episode, Rollout } from "@inspo/rollout"
import { Array as Arr, Effect, Option, Schema } from "effect"

const kind = "trajectory"

const decode = Schema.decodeUnknownEffect(Schema.Array(Trajectory.Trajectory))

/**
 * So many rollouts of one collection failed that the others no longer stand for them: an episode that calls no tool cannot
 * fail by one. Those that did not fail are stored, and a resumed run asks for the rest again.
 */
export class TooManyFailures extends Schema.TaggedError<TooManyFailures>()("TooManyFailures", {
  failed: Schema.Int,
  total: Schema.Int,
  allowed: Schema.Finite,
  example: Schema.String
}) {
  override get message() {
    return (
      `rollouts: ${this.failed} of ${this.total} failed, and rollout.maxFailedShare is ${this.allowed}. One of them: ` +
      `${this.example}. What went well is stored; mend the cause and resume the run`
    )
  }
}

/**
 * Trajectories with their tokens and texts, kept in the journal's records. `maxFailedShare`, in [0, 1], is how many of the
 * rollouts asked for at once may fail.
 */
export const make = Effect.fnUntraced(function* (maxFailedShare: number) {
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
    const collected = yield* rollout.collect(missing)
    const failed = collected.filter(Trajectory.isFailed)
    const tooMany = failed.length > maxFailedShare * episodes.length
    const kept = tooMany ? collected.filter((trajectory) => !Trajectory.isFailed(trajectory)) : collected
    yield* journal.putRecords(
      kind,
      step,
      kept.map((trajectory) => ({ key: trajectory.id, value: trajectory }))
    )
    if (tooMany)
      return yield* new TooManyFailures({
        failed: failed.length,
        total: episodes.length,
        allowed: maxFailedShare,
        example: failed[0]?.failure ?? "no reason was given"
      })
    for (const trajectory of kept) known.set(trajectory.id, trajectory)
    return Arr.getSomes(episodes.map(({ id }) => Option.fromNullishOr(known.get(id))))
  })

  return { read, collect }
})

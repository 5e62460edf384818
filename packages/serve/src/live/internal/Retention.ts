/** Deletes stored texts: by lease, and by age. */
import { Settings, type State } from "@inspo/cohorts"
import type { Journal, JournalError } from "@inspo/journal"
import { Clock, Effect, Latch, Schedule, type Scope } from "effect"
import { kinds, minute } from "../../store/internal/Stored.ts"

export interface Retention {
  /**
   * Deletes the texts of leases. Their rewards stay, and everything learned from them. False while a reader of the journal
   * still has the texts: they are then removed in the background as soon as it ends.
   */
  readonly forget: (leases: ReadonlyArray<string>) => Effect.Effect<boolean, JournalError>
  /** Deletes what is older than the population's retention. This also happens by itself every few minutes. */
  readonly retain: Effect.Effect<void, JournalError>
}

/** Deletes what is old every few minutes, as long as the scope lasts. */
export const make = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  state: Effect.Effect<State.State>
): Effect.fn.Return<Retention, never, Scope.Scope> {
  const erased = yield* makeErasing(journal)
  const retain = Effect.flatMap(state, (now) => erased(deleteOld(journal, now))).pipe(
    Effect.asVoid,
    Effect.withSpan("LivePopulation.retain")
  )
  yield* retain.pipe(
    Effect.catch(({ message }) => Effect.logWarning(`old records could not be deleted: ${message}`)),
    Effect.repeat(Schedule.spaced("10 minutes")),
    Effect.forkScoped
  )
  return {
    retain,
    forget: Effect.fn("LivePopulation.forget")(function* (leases) {
      yield* Effect.annotateCurrentSpan({ leases: leases.length })
      return yield* leases.length === 0
        ? Effect.succeed(true)
        : erased(journal.deleteRecords(texts, { prefixes: leases.map((one) => `${one}#`) }))
    })
  }
})

/**
 * Deletes texts older than the retention, and leases and rewards that are as old and of no open cohort: the log alone is
 * enough for every later decision, and they only serve to answer repetitions. Deletes the instructions of conversations once
 * they are older than a sticky key lasts. Returns whether nothing of it is left in the file.
 */
const deleteOld = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  { cohorts, settings }: State.State
): Effect.fn.Return<boolean, JournalError> {
  const retention = Settings.daysInMilliseconds(settings.retentionDays)
  const sticky = Settings.daysInMilliseconds(settings.stickyDays)
  const now = yield* Clock.currentTimeMillis
  const closedBefore = (age: number) =>
    minute(cohorts.reduce((earliest, { openedAt }) => Math.min(earliest, openedAt), now - age))
  const isErased = sticky === null || (yield* journal.deleteRecords([kinds.sticky], { before: closedBefore(sticky) }))
  if (retention === null) return isErased
  yield* journal.deleteRecords(texts, { before: minute(now - retention) })
  const before = closedBefore(retention)
  return (yield* journal.deleteRecords([kinds.lease, kinds.reward], { before })) && isErased
})

/** Runs a deletion. If a reader of the file keeps deleted texts, removes them in the background, as long as the scope lasts. */
const makeErasing = Effect.fnUntraced(function* (journal: Journal.Interface) {
  const left = yield* Latch.make()
  yield* left.await.pipe(
    Effect.andThen(left.close),
    Effect.andThen(journal.eraseDeleted),
    Effect.catch(({ message }) => Effect.as(Effect.logWarning(`deleted texts cannot be removed: ${message}`), false)),
    Effect.repeat({ schedule: Schedule.spaced("1 second"), until: (isErased) => isErased }),
    Effect.forever,
    Effect.forkScoped
  )
  return <E>(deletion: Effect.Effect<boolean, E>): Effect.Effect<boolean, E> =>
    Effect.tap(deletion, (isErased) => (isErased ? Effect.void : left.open))
})

/** The kinds of records that hold texts, or refer to them. */
const texts = [kinds.leaseDetails, kinds.rewardDetails, kinds.scored]

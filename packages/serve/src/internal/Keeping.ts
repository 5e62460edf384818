/** What is forgotten of what was told: by lease, and by age. */
import { Settings, type State } from "@inspo/cohorts"
import type { Journal, JournalError } from "@inspo/journal"
import { Clock, Effect, Latch, Schedule } from "effect"
import { kinds, minute } from "./Stored.ts"

/** Deletes all texts of leases; whether nothing of them is left in the file. */
export const forget = Effect.fn("LivePopulation.forget")(function* (
  journal: Journal.Interface,
  leases: ReadonlyArray<string>
): Effect.fn.Return<boolean, JournalError> {
  return leases.length === 0 || (yield* journal.deleteRecords(told, { prefixes: leases.map((one) => `${one}#`) }))
})

/**
 * Forgets texts older than the retention, and leases and rewards that are as old and of no cohort that is open: the log alone
 * is enough for every later decision, and they are what repetitions are answered from. Forgets what conversations were given
 * once that is as old as a sticky key lasts.
 */
export const retain = Effect.fnUntraced(function* (
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
  yield* journal.deleteRecords(told, { before: minute(now - retention) })
  const before = closedBefore(retention)
  return (yield* journal.deleteRecords([kinds.lease, kinds.reward], { before })) && isErased
})

/**
 * Runs a deletion, and where a reader keeps the file from being rid of it, removes what is left in the background, as long as
 * the scope lasts.
 */
export const makeErasing = Effect.fnUntraced(function* (journal: Journal.Interface) {
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

/** The kinds of records that hold texts, or stand for them. */
const told = [kinds.ofLease, kinds.ofReward, kinds.scored]

/** What is forgotten of what was told: by lease, and by age. */
import type { State } from "@inspo/cohorts"
import type { Journal, JournalError } from "@inspo/journal"
import { Clock, Effect } from "effect"
import { kinds, minute } from "./Stored.ts"

/** Forgets all texts that were told of leases. */
export const forget = Effect.fn("LivePopulation.forget")(function* (
  journal: Journal.Interface,
  leases: ReadonlyArray<string>
): Effect.fn.Return<void, JournalError> {
  if (leases.length > 0) yield* journal.deleteRecords(told, { prefixes: leases.map((one) => `${one}#`) })
})

/**
 * Forgets texts older than the retention, and leases and rewards that are as old and of no cohort that is open: the log alone
 * is enough for every later decision, and they are what repetitions are answered from.
 */
export const retain = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  { cohorts, settings: { retention } }: State.State
): Effect.fn.Return<void, JournalError> {
  if (retention === null) return
  const until = (yield* Clock.currentTimeMillis) - retention
  const open = cohorts.reduce((earliest, { openedAt }) => Math.min(earliest, openedAt), until)
  yield* journal.deleteRecords(told, { before: minute(until) })
  yield* journal.deleteRecords([kinds.lease, kinds.reward], { before: minute(open) })
})

/** The kinds of records that hold texts, or stand for them. */
const told = [kinds.ofLease, kinds.ofReward, kinds.scored]

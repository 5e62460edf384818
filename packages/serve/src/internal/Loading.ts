/** Reads a population from its journal. */
import { apply, fold, type State } from "@inspo/cohorts"
import { type Journal, type JournalError, Records } from "@inspo/journal"
import { Array as Arr, Effect, Order, Schema } from "effect"
import { kinds, StoredEvent, StoredLease, StoredReward } from "./Stored.ts"

/** All that is in the log, oldest first. Fails with `corrupt` where something is no event of a population. */
export const events = Effect.fnUntraced(function* (
  journal: Journal.Interface
): Effect.fn.Return<ReadonlyArray<StoredEvent>, JournalError> {
  return yield* Effect.forEach(yield* journal.read, ({ payload, sequence, type }) =>
    Effect.mapError(decodeEvent(payload), (cause) =>
      Records.corrupt(journal.meta, `the event ${type} cannot be read: ${cause.message}`, { sequence, cause })
    )
  )
})

/** The state that its log and the records of its open cohorts come to. */
export const state = Effect.fnUntraced(function* (
  journal: Journal.Interface
): Effect.fn.Return<State.State, JournalError> {
  const log = (yield* events(journal)).map(({ event }) => event)
  let state = yield* Effect.try({
    try: () => fold(log),
    catch: (cause) => Records.corrupt(journal.meta, `the log is not of one piece: ${String(cause)}`, { cause })
  })
  for (const { index, name } of state.cohorts) {
    const { branch } = state
    const leases = (yield* listed(journal, kinds.lease, index, StoredLease)).filter(
      (lease) => lease.branch === branch && lease.cohort === name
    )
    if (leases.length === 0) continue
    const keys = new Map(leases.map(({ given }) => [given.lease, given.key]))
    const rewards = (yield* listed(journal, kinds.reward, index, StoredReward)).flatMap(
      ({ isLate, lease, sample, value }) => {
        const key = keys.get(lease)
        return isLate || key === undefined ? [] : [{ key, sample, value }]
      }
    )
    state = apply(state, { _tag: "Leased", cohort: name, leases: Arr.sort(leases, byPlace).map(({ given }) => given) })
    state = apply(state, { _tag: "Rewarded", cohort: name, rewards })
  }
  return state
})

const byPlace = Order.mapInput(Order.Number, ({ place }: StoredLease) => place)

const listed = <A, I>(journal: Journal.Interface, kind: string, step: number, schema: Schema.Codec<A, I>) => {
  const decode = Records.decoder(journal, kind, schema)
  return Effect.flatMap(
    journal.listRecords(kind, step),
    Effect.forEach(({ key, value }) => decode(key, value))
  )
}

const decodeEvent = Schema.decodeUnknownEffect(StoredEvent)

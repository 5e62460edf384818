/** Reads a population from its journal. */
import { apply, fold, History, type State, type Strategies } from "@inspo/cohorts"
import { type Journal, type JournalError, Records, type StoredEvent as StoredInJournal } from "@inspo/journal"
import { Array as Arr, Effect, Order, Predicate, Schema } from "effect"
export type { StoredEvent } from "./internal/Stored.ts"
import { kinds, minute, StoredEvent, StoredLease, StoredReward, version } from "./internal/Stored.ts"

/** All events of the log, oldest first. Fails with `other-version` if another version wrote it, with `corrupt` if an entry is not an event. */
export const events = (journal: Journal.Interface): Effect.Effect<ReadonlyArray<StoredEvent>, JournalError> =>
  Effect.flatMap(journal.read, Effect.forEach(decoder(journal)))

/** The same from a sequence number on, and at most so many. */
export const eventsFrom = (
  journal: Journal.Interface,
  sequence: number,
  limit: number
): Effect.Effect<ReadonlyArray<StoredEvent>, JournalError> =>
  Effect.flatMap(journal.readFrom(sequence, limit), Effect.forEach(decoder(journal)))

const decoder =
  ({ meta }: Pick<Journal.Interface, "meta">) =>
  ({ payload, sequence, type }: StoredInJournal): Effect.Effect<StoredEvent, JournalError> => {
    const found = Predicate.hasProperty(payload, "version") ? payload.version : undefined
    return found === version
      ? Effect.mapError(decodeEvent(payload), (cause) =>
          Records.corrupt(meta, `the event ${type} cannot be read: ${cause.message}`, { sequence, cause })
        )
      : Effect.fail(
          Records.otherVersion(meta, { field: `${type}.version`, value: found, expected: String(version), sequence })
        )
  }

/** The history of every instruction. */
export const history = (journal: Journal.Interface): Effect.Effect<History.History, JournalError> =>
  Effect.map(events(journal), (log) => log.reduce((known, { event }) => History.after(known, event), History.none))

/** The state after its log and the records of its open cohorts. */
export const state = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  decides?: Strategies.Decides
): Effect.fn.Return<State.State, JournalError> {
  const log = (yield* events(journal)).map(({ event }) => event)
  let state = yield* Effect.try({
    try: () => fold(log, decides),
    catch: (cause) => Records.corrupt(journal.meta, `the log is not complete: ${String(cause)}`, { cause })
  })
  if (state.cohorts.length === 0) return state
  const { branch } = state
  const since = minute(state.cohorts.reduce((earliest, { openedAt }) => Math.min(earliest, openedAt), Infinity))
  const names = new Set(state.cohorts.map(({ name }) => name))
  const leases = (yield* listed(journal, kinds.lease, since, StoredLease)).filter(
    (lease) => lease.branch === branch && names.has(lease.cohort)
  )
  const places = new Map(leases.map((lease) => [lease.given.lease, lease]))
  const rewards = (yield* listed(journal, kinds.reward, since, StoredReward)).flatMap((reward) => {
    const lease = reward.isLate ? undefined : places.get(reward.lease)
    return lease === undefined ? [] : [{ ...reward, key: lease.given.key, cohort: lease.cohort }]
  })
  for (const [cohort, some] of Map.groupBy(leases, ({ cohort }) => cohort))
    state = apply(state, { _tag: "Leased", cohort, leases: Arr.sort(some, byPlace).map(({ given }) => given) })
  for (const [cohort, some] of Map.groupBy(rewards, ({ cohort }) => cohort))
    state = apply(state, { _tag: "Rewarded", cohort, rewards: some, ...latest(some) })
  return state
})

const latest = (rewards: ReadonlyArray<StoredReward>): { readonly at?: number } => {
  const times = rewards.flatMap(({ at }) => (at === undefined ? [] : [at]))
  return times.length === 0 ? {} : { at: times.reduce((last, at) => Math.max(last, at)) }
}

const byPlace = Order.mapInput(Order.Number, ({ place }: StoredLease) => place)

const listed = <A, I>(journal: Journal.Interface, kind: string, from: number, schema: Schema.Codec<A, I>) => {
  const decode = Records.decoder(journal, kind, schema)
  return Effect.flatMap(
    journal.listRecords(kind, { from }),
    Effect.forEach(({ key, value }) => decode(key, value))
  )
}

const decodeEvent = Schema.decodeUnknownEffect(StoredEvent)

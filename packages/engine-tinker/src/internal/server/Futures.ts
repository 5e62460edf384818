import { Cause, Clock, Deferred, type Duration, Effect, Exit, type Option } from "effect"
import * as Outcomes from "./Outcomes.ts"
import type { Outcome } from "./Outcomes.ts"
import { type Refusal, refuse } from "./Refusal.ts"

export interface Submission {
  /** Names the request across retries, such as a model and its sequence number; null for one that is never sent twice. */
  readonly slot: string | null
  /** Identifies what the request asks for: under one slot it must stay the same. */
  readonly digest: string
  /** Doing it twice would change a result, so that it is remembered as long as its owner lives. */
  readonly once: boolean
  /** The session or model that it ends with; null for a request without one, which ends when nobody asks for it any more. */
  readonly owner: string | null
  readonly work: Effect.Effect<Outcome, Refusal>
  /** Has the work done, now or later; not called for a request that was begun before. */
  readonly begin: (run: Effect.Effect<void>) => Effect.Effect<void>
}

/** Requests that are answered later, each of which is begun at most once. */
export interface Futures {
  readonly submit: (submission: Submission) => Effect.Effect<string, Refusal>
  /** Waits for the outcome, at most so long; none when it is not there yet. */
  readonly retrieve: (id: string, timeout: Duration.Input) => Effect.Effect<Option.Option<Outcome>, Refusal>
  /** Ends the work of a request that is not done; no error where there is none. */
  readonly cancel: (id: string) => Effect.Effect<void>
  /** Ends all work of an owner, and forgets its slots. */
  readonly end: (owner: string) => Effect.Effect<void>
  /** Ends the work of requests without an owner that nobody asked for since a time in milliseconds. */
  readonly abandon: (since: number) => Effect.Effect<void>
}

interface Options {
  /** Distinguishes the futures of this process from those of another. */
  readonly nonce: string
  readonly retained: Outcomes.Retention
  /** Most requests that may wait for their outcome. */
  readonly open: number
}

export const make = (options: Options): Futures => {
  const state: State = { slots: new Map(), pending: new Map(), outcomes: Outcomes.make(options.retained), count: 0 }
  return {
    submit: submitting(state, options),
    retrieve: retrieving(state, options),

    cancel: (id) =>
      Effect.suspend(() => {
        const one = state.pending.get(id)
        return one === undefined ? Effect.void : settle(state, id, one, Exit.fail(refuse("Future was cancelled", 410)))
      }),

    end: (owner) =>
      Effect.andThen(
        cancelAll(state, (one) => one.owner === owner, refuse(`${owner} ended before the request was done`, 410)),
        Effect.sync(() => {
          for (const [slot, known] of state.slots) if (known.owner === owner) state.slots.delete(slot)
        })
      ),

    abandon: (since) =>
      cancelAll(
        state,
        ({ asked, owner }) => owner === null && asked < since,
        refuse("Future was given up, since nobody asked for it", 410)
      )
  }
}

interface State {
  /** The requests that were begun, by slot. */
  readonly slots: Map<string, { readonly id: string; readonly digest: string; readonly owner: string | null }>
  readonly pending: Map<string, Pending>
  readonly outcomes: Outcomes.Outcomes
  /** Of all futures so far. */
  count: number
}

interface Pending {
  readonly deferred: Deferred.Deferred<Outcome, Refusal>
  readonly owner: string | null
  readonly slot: string | null
  readonly once: boolean
  /** When it was last asked for, in milliseconds; Infinity while somebody waits. */
  asked: number
}

const submitting = (state: State, { nonce, open }: Options): Futures["submit"] => {
  const { pending, slots } = state
  return Effect.fnUntraced(function* ({ begin, digest, once, owner, slot, work }) {
    const known = slot === null ? undefined : slots.get(slot)
    if (known !== undefined) {
      if (known.digest === digest) return known.id
      return yield* refuse("Training request sequence number was reused", 409)
    }
    if (pending.size >= open)
      return yield* refuse(`${pending.size} requests wait for their result, expected fewer than ${open}`, 429)
    state.count += 1
    const id = `${nonce}-${state.count}`
    const deferred = Deferred.makeUnsafe<Outcome, Refusal>()
    const one: Pending = { deferred, owner, slot, once, asked: yield* Clock.currentTimeMillis }
    if (slot !== null) slots.set(slot, { id, digest, owner })
    pending.set(id, one)
    const run = Effect.suspend(() =>
      pending.has(id)
        ? Effect.raceFirst(work, Deferred.await(deferred)).pipe(
            Effect.catchCause((cause) => failure(cause)),
            Effect.exit,
            Effect.flatMap((exit) => settle(state, id, one, exit))
          )
        : Effect.void
    )
    yield* begin(run)
    return id
  }, Effect.uninterruptible)
}

const retrieving = (state: State, { nonce }: Options): Futures["retrieve"] =>
  Effect.fnUntraced(function* (id, timeout) {
    const done = state.outcomes.get(id)
    if (done !== undefined) return yield* Effect.asSome(done.exit)
    const one = state.pending.get(id)
    if (one !== undefined) {
      one.asked = Infinity
      return yield* Effect.timeoutOption(Deferred.await(one.deferred), timeout).pipe(
        Effect.ensuring(Effect.map(Clock.currentTimeMillis, (now) => (one.asked = now)))
      )
    }
    const [prefix, number] = id.split("-")
    return yield* prefix === nonce && Number(number) <= state.count
      ? refuse("Future is no longer kept", 410)
      : refuse("Future not found", 404)
  })

const settle = (
  { outcomes, pending, slots }: State,
  id: string,
  one: Pending,
  exit: Exit.Exit<Outcome, Refusal>
): Effect.Effect<void> =>
  Effect.sync(() => {
    if (!pending.delete(id)) return
    Deferred.doneUnsafe(one.deferred, exit)
    for (const slot of outcomes.keep(id, { exit, slot: one.once ? null : one.slot })) slots.delete(slot)
  })

const cancelAll = (state: State, which: (one: Pending) => boolean, why: Refusal): Effect.Effect<void> =>
  Effect.forEach(
    Array.from(state.pending).filter(([, one]) => which(one)),
    ([id, one]) => settle(state, id, one, Exit.fail(why)),
    { discard: true }
  )

/** What a client gets; a fault of the server itself is only logged. */
const failure = (cause: Cause.Cause<Refusal>): Effect.Effect<never, Refusal> => {
  const refusal = cause.reasons.find(Cause.isFailReason)
  if (refusal !== undefined) return Effect.fail(refusal.error)
  if (Cause.hasInterruptsOnly(cause)) return Effect.fail(refuse("the server stopped working on the request", 410))
  return Effect.andThen(
    Effect.logError("a request failed", cause),
    Effect.fail(refuse("the server failed on this request; its log says why", 500))
  )
}

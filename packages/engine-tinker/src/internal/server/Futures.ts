import { Cause, Clock, Deferred, type Duration, Effect, Exit, type Option } from "effect"
import type * as Wire from "../../Wire.ts"
import { type Refusal, refuse } from "./Refusal.ts"

/** What a future holds; samples and losses can travel as protobuf. */
export type Outcome =
  | { readonly _tag: "Json"; readonly value: object }
  | { readonly _tag: "Samples"; readonly value: Wire.SampleResponse }
  | { readonly _tag: "Losses"; readonly value: Wire.ForwardBackwardOutput }

export interface Submission {
  /** Names the request across retries, such as a model and its sequence number; null for one that is never sent twice. */
  readonly slot: string | null
  /** Tells what the request asks for from anything else: under one slot it must stay the same. */
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
  readonly retrieve: (id: string, patience: Duration.Input) => Effect.Effect<Option.Option<Outcome>, Refusal>
  /** Ends the work of a request that is not done; no error where there is none. */
  readonly cancel: (id: string) => Effect.Effect<void>
  /** Ends all work of an owner, and forgets its slots. */
  readonly end: (owner: string) => Effect.Effect<void>
  /** Ends the work of requests without an owner that nobody asked for since a time in milliseconds. */
  readonly abandon: (since: number) => Effect.Effect<void>
}

export interface Options {
  /** Tells the futures of this process from those of another. */
  readonly nonce: string
  /** Most outcomes that are kept for clients that ask again, and most numbers in them together. */
  readonly retained: { readonly outcomes: number; readonly numbers: number }
  /** Most requests that may wait for their outcome. */
  readonly open: number
}

export const make = ({ nonce, open, retained }: Options): Futures => {
  const slots = new Map<string, { readonly id: string; readonly digest: string; readonly owner: string | null }>()
  const pending = new Map<string, Pending>()
  const settled = new Map<string, Settled>()
  let count = 0
  let numbers = 0

  const settle = (id: string, one: Pending, exit: Exit.Exit<Outcome, Refusal>) =>
    Effect.sync(() => {
      if (!pending.delete(id)) return
      Deferred.doneUnsafe(one.deferred, exit)
      const size = Exit.isSuccess(exit) ? sizeOf(exit.value) : 0
      settled.set(id, { exit, slot: one.once ? null : one.slot, size })
      numbers += size
      for (const [old, { size, slot }] of settled) {
        if (settled.size <= retained.outcomes && numbers <= retained.numbers) return
        if (old === id) return
        settled.delete(old)
        numbers -= size
        if (slot !== null) slots.delete(slot)
      }
    })

  const cancelAll = (which: (one: Pending) => boolean, why: Refusal) =>
    Effect.forEach(
      Array.from(pending).filter(([, one]) => which(one)),
      ([id, one]) => settle(id, one, Exit.fail(why)),
      { discard: true }
    )

  return {
    submit: Effect.fnUntraced(function* ({ begin, digest, once, owner, slot, work }) {
      const known = slot === null ? undefined : slots.get(slot)
      if (known !== undefined) {
        if (known.digest === digest) return known.id
        return yield* refuse("Training request sequence number was reused", 409)
      }
      if (pending.size >= open)
        return yield* refuse(`${pending.size} requests wait for their result, expected fewer than ${open}`, 429)
      count += 1
      const id = `${nonce}-${count}`
      const deferred = Deferred.makeUnsafe<Outcome, Refusal>()
      const one: Pending = { deferred, owner, slot, once, asked: yield* Clock.currentTimeMillis }
      if (slot !== null) slots.set(slot, { id, digest, owner })
      pending.set(id, one)
      const run = Effect.suspend(() =>
        pending.has(id)
          ? Effect.raceFirst(work, Deferred.await(deferred)).pipe(
              Effect.catchCause((cause) => failure(cause)),
              Effect.exit,
              Effect.flatMap((exit) => settle(id, one, exit))
            )
          : Effect.void
      )
      yield* begin(run)
      return id
    }, Effect.uninterruptible),

    retrieve: Effect.fnUntraced(function* (id, patience) {
      const done = settled.get(id)
      if (done !== undefined) return yield* Effect.asSome(done.exit)
      const one = pending.get(id)
      if (one !== undefined) {
        one.asked = Infinity
        return yield* Effect.timeoutOption(Deferred.await(one.deferred), patience).pipe(
          Effect.ensuring(Effect.map(Clock.currentTimeMillis, (now) => (one.asked = now)))
        )
      }
      const [prefix, number] = id.split("-")
      return yield* prefix === nonce && Number(number) <= count
        ? refuse("Future is no longer kept", 410)
        : refuse("Future not found", 404)
    }),

    cancel: (id) =>
      Effect.suspend(() => {
        const one = pending.get(id)
        return one === undefined ? Effect.void : settle(id, one, Exit.fail(refuse("Future was cancelled", 410)))
      }),

    end: (owner) =>
      Effect.andThen(
        cancelAll((one) => one.owner === owner, refuse(`${owner} ended before the request was done`, 410)),
        Effect.sync(() => {
          for (const [slot, known] of slots) if (known.owner === owner) slots.delete(slot)
        })
      ),

    abandon: (since) =>
      cancelAll(
        ({ asked, owner }) => owner === null && asked < since,
        refuse("Future was given up, since nobody asked for it", 410)
      )
  }
}

interface Pending {
  readonly deferred: Deferred.Deferred<Outcome, Refusal>
  readonly owner: string | null
  readonly slot: string | null
  readonly once: boolean
  /** When it was last asked for, in milliseconds; Infinity while somebody waits. */
  asked: number
}

interface Settled {
  readonly exit: Exit.Exit<Outcome, Refusal>
  readonly slot: string | null
  readonly size: number
}

/** The numbers of an outcome, in which nearly all of its memory lies. */
const sizeOf = (outcome: Outcome): number => {
  switch (outcome._tag) {
    case "Json":
      return 1
    case "Samples":
      return outcome.value.sequences.reduce(
        (total, { tokens }) => total + 2 * tokens.length,
        outcome.value.prompt_logprobs?.length ?? 0
      )
    case "Losses":
      return outcome.value.loss_fn_outputs.reduce(
        (total, output) => total + Object.values(output).reduce((sum, { data }) => sum + data.length, 0),
        0
      )
  }
}

/** What a client is told; a fault of the server itself is only told to its log. */
const failure = (cause: Cause.Cause<Refusal>): Effect.Effect<never, Refusal> => {
  const refusal = cause.reasons.find(Cause.isFailReason)
  if (refusal !== undefined) return Effect.fail(refusal.error)
  if (Cause.hasInterruptsOnly(cause)) return Effect.fail(refuse("the server stopped working on the request", 410))
  return Effect.andThen(
    Effect.logError("a request failed", cause),
    Effect.fail(refuse("the server failed on this request; its log says why", 500))
  )
}

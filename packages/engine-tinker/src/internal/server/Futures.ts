import { Deferred, type Duration, Effect, type Option } from "effect"
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
  /** Doing it twice would change a result, so that it is remembered for good. */
  readonly once: boolean
  /** Begins the work, which settles the future; not called for a request that was begun before. */
  readonly begin: (settle: (outcome: Effect.Effect<Outcome, Refusal>) => Effect.Effect<void>) => Effect.Effect<void>
}

/** Requests that are answered later, each of which is begun at most once. */
export interface Futures {
  readonly submit: (submission: Submission) => Effect.Effect<string, Refusal>
  /** Waits for the outcome, at most so long; none when it is not there yet. */
  readonly retrieve: (id: string, patience: Duration.Input) => Effect.Effect<Option.Option<Outcome>, Refusal>
}

/** `nonce` tells the futures of this process from those of another; at most `retained` settled outcomes are kept. */
export const make = (nonce: string, retained: number): Futures => {
  const slots = new Map<string, { readonly id: string; readonly digest: string }>()
  const pending = new Map<string, Deferred.Deferred<Outcome, Refusal>>()
  const settled = new Map<string, { readonly outcome: Effect.Effect<Outcome, Refusal>; readonly slot: string | null }>()
  let count = 0

  const evict = () => {
    for (const [id, { slot }] of settled) {
      if (settled.size <= retained) return
      settled.delete(id)
      if (slot !== null) slots.delete(slot)
    }
  }

  return {
    submit: Effect.fnUntraced(function* ({ begin, digest, once, slot }) {
      const known = slot === null ? undefined : slots.get(slot)
      if (known !== undefined) {
        if (known.digest === digest) return known.id
        return yield* refuse("Training request sequence number was reused", 409)
      }
      count += 1
      const id = `${nonce}-${count}`
      const deferred = Deferred.makeUnsafe<Outcome, Refusal>()
      if (slot !== null) slots.set(slot, { id, digest })
      pending.set(id, deferred)
      yield* begin((outcome) =>
        Effect.gen(function* () {
          yield* Deferred.complete(deferred, outcome)
          pending.delete(id)
          settled.set(id, { outcome: Deferred.await(deferred), slot: once ? null : slot })
          evict()
        })
      )
      return id
    }, Effect.uninterruptible),

    retrieve: (id, patience) => {
      const done = settled.get(id)
      if (done !== undefined) return Effect.asSome(done.outcome)
      const deferred = pending.get(id)
      if (deferred !== undefined) return Effect.timeoutOption(Deferred.await(deferred), patience)
      const [prefix, number] = id.split("-")
      return prefix === nonce && Number(number) <= count
        ? Effect.fail(refuse("Future is no longer kept", 410))
        : Effect.fail(refuse("Future not found", 404))
    }
  }
}

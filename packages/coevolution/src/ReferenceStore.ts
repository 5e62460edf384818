import { Engine, EngineError, type TrainRequest } from "@inspo/engine"
import { Journal, Records } from "@inspo/journal"
import { Effect, Schema } from "effect"
import type { Bookkeeping } from "@inspo/ledger"

const Logprobs = Schema.Array(Schema.Array(Schema.Finite))

/** Log-probabilities under the reference policy, from the journal: an engine may not return the same bits twice, and a repetition must. */
export const make = Effect.fnUntraced(function* (bookkeeping: Bookkeeping.Bookkeeping) {
  const engine = yield* Engine
  const records = Records.make(yield* Journal, "reference", Logprobs)

  /** The log-probabilities of the responses of a request, in datum order. Scored in one call unless they are stored. */
  const score = Effect.fn("ReferenceStore.score")(function* (step: number, { datums, key }: TrainRequest) {
    const asking = Effect.filterOrFail(
      engine.score("reference", datums),
      (logprobs) => unscored(datums, logprobs) === null,
      (logprobs) =>
        new EngineError({
          operation: "score",
          reason: `of ${key}, expected a log-probability for each token of each response; sequence ${unscored(datums, logprobs)} has another number`
        })
    )
    return yield* bookkeeping.once(records, { step, key, payment: null }, asking)
  })

  return { score }
})

/** The index of the first response whose log-probabilities do not match it, or null. */
const unscored = (datums: TrainRequest["datums"], logprobs: ReadonlyArray<ReadonlyArray<number>>): number | null => {
  const place = Array.from({ length: Math.max(datums.length, logprobs.length) }, (_, at) => at).find(
    (at) => datums[at] === undefined || logprobs[at]?.length !== datums[at].response.length
  )
  return place ?? null
}

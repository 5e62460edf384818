import { Engine, EngineError, type TrainRequest } from "@inspo/engine"
import { Journal, JournalError } from "@inspo/journal"
import { Effect, Schema } from "effect"

const kind = "reference"

const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Array(Schema.Finite)))

/**
 * Log-probabilities under the reference policy, kept in the journal's records: an engine need not give the same bits
 * twice, and a batch has to be the same when it is redone.
 */
export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const journal = yield* Journal

  /** Those of the responses of a request, in datum order. Scored in one call unless they are on record. */
  const score = Effect.fn("ReferenceStore.score")(function* (step: number, { datums, key }: TrainRequest) {
    const record = (yield* journal.getRecords(kind, [key])).get(key)
    if (record !== undefined)
      return yield* Effect.mapError(
        decode(record),
        (error) =>
          new JournalError({
            reason: "corrupt",
            file: journal.meta.file,
            sequence: null,
            detail: `the reference log-probabilities of ${key} cannot be read: ${error.message}`,
            cause: error
          })
      )
    const logprobs = yield* engine.score("reference", datums)
    const missing = datums.findIndex(({ response }, index) => logprobs[index]?.length !== response.length)
    if (missing >= 0 || logprobs.length > datums.length)
      return yield* new EngineError({
        operation: "score",
        reason: `of ${key}, expected a log-probability for each token of each response; sequence ${missing} has others`
      })
    yield* journal.putRecords(kind, step, [{ key, value: logprobs }])
    return logprobs
  })

  return { score }
})

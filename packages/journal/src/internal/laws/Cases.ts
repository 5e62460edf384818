/** What the laws of a journal are tried with. */
import { Law } from "@inspo/domain/testing"
import { Effect, Layer, Result, Schema } from "effect"
import { Journal } from "../../Journal.ts"

/** Names that sort, quote and encode in different ways. */
const Name = Schema.Literals(["a", "B", "é", "sample", "step/10", "step/2", "𝒳"])

export const Event = Schema.Struct({ type: Name, step: Schema.Int, payload: Schema.Json })

export const Put = Schema.Struct({
  kind: Schema.Literals(["x", "y"]),
  step: Schema.Literals([0, 1, 2]),
  rows: Schema.Array(Schema.Struct({ key: Name, value: Schema.Json }))
})

/** What JSON makes of a value: `-0` becomes `0`. */
export const throughJson = <A>(value: A): A => JSON.parse(JSON.stringify(value))

/** Runs one case with a journal of its own. */
export type Use<E, R> = <A, F>(
  withJournal: (journal: Journal.Interface) => Effect.Effect<A, F>
) => Effect.Effect<A, E | F, R>

/** Makes the journal of each case by this layer. */
export const within =
  <E, R>(fresh: Layer.Layer<Journal, E, R>): Use<E, R> =>
  (withJournal) =>
    Journal.use(withJournal).pipe(Effect.provide(Layer.fresh(fresh), { local: true }))

/** The error of an operation that has to be refused. */
export const refused = <E>(operation: Effect.Effect<unknown, E>): Effect.Effect<E> =>
  Effect.map(Effect.result(operation), (outcome) => {
    Law.expect(Result.isFailure(outcome), "an operation that has to be refused succeeds")
    return outcome.failure
  })

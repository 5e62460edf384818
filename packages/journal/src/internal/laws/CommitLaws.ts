/** The law of commits. */
import { Law } from "@inspo/domain/testing"
import { Arbitrary, Effect, Schema } from "effect"
import type { Journal } from "../../Journal.ts"
import { Event, Put, type Use } from "./Cases.ts"

export const commitLaws = <E, R>(use: Use<E, R>, options: Law.Options | undefined): ReadonlyArray<Law.Law<R>> => {
  const contents = (journal: Journal.Interface) =>
    Effect.all([journal.read, journal.listRecords("x"), journal.listRecords("y")])
  return [
    Law.forAll(
      "a commit is events and records, all of it or nothing",
      Arbitrary.schema(Schema.Tuple([Schema.Array(Event), Schema.Array(Put), Schema.Boolean])),
      options,
      ([events, puts, isWhole]) =>
        Effect.gen(function* () {
          const bad = isWhole ? [] : [{ type: "Odd", step: 0, payload: undefined }]
          const committed = yield* use((journal) =>
            Effect.zip(Effect.isSuccess(journal.commit([...events, ...bad], puts)), contents(journal))
          )
          const apart = yield* use((journal) =>
            Effect.gen(function* () {
              if (isWhole) {
                for (const { kind, rows, step } of puts) yield* journal.putRecords(kind, step, rows)
                yield* journal.append(events)
              }
              return yield* contents(journal)
            })
          )
          Law.same(committed, [isWhole, apart], "whether it succeeds, and what is stored then")
        })
    )
  ]
}

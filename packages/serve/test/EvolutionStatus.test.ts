import { assert, describe, it } from "@effect/vitest"
import { Journal, JournalError } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, Layer, Schema } from "effect"
import * as EvolutionStatus from "../src/live/EvolutionStatus.ts"

const Told = Schema.Literals(["one fault", "another", "over"])

/** Does so many writes and fails then, as where the disk is full or the process dies. */
const failingAfter = (journal: Journal.Interface, writes: number): Journal.Interface => {
  let left = writes
  const unless = <A>(write: Effect.Effect<A, JournalError>) =>
    Effect.suspend(() =>
      left-- > 0
        ? write
        : Effect.fail(new JournalError({ reason: "storage", file: ":memory:", sequence: null, detail: "it is full" }))
    )
  return {
    ...journal,
    putRecords: (...given) => unless(journal.putRecords(...given)),
    deleteRecords: (...given) => unless(journal.deleteRecords(...given))
  }
}

const reasonOf = (notes: EvolutionStatus.EvolutionStatus) =>
  Effect.map(notes.degraded, ([one]) => one?.reason ?? "over")

describe("notes", () => {
  it.effect.prop(
    "are those from before, or after, whenever writing them breaks off",
    [Schema.Array(Told).check(Schema.isMaxLength(6)), Schema.Literals([0, 1, 2, 3, 4, 5, 6])],
    ([told, writes]) =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const notes = yield* EvolutionStatus.open(failingAfter(journal, writes))
        let before = "over"
        for (const reason of told) {
          const write = reason === "over" ? notes.recovered : notes.degrade({ reason, remedy: "Mend it" })
          const isWhole = yield* Effect.match(write, { onFailure: () => false, onSuccess: () => true })
          const found = yield* reasonOf(yield* EvolutionStatus.open(journal))
          assert.include(isWhole ? [reason] : [before, reason], found)
          assert.strictEqual(yield* reasonOf(notes), found)
          before = found
        }
      }).pipe(Effect.provide(Layer.fresh(layerMemory)))
  )

  it.effect.each([
    ["nothing was asked", [], 0],
    ["a bank of sentences is free", [{ tokens: 0, usd: 0 }], 0],
    ["the price is known", [{ tokens: 100, usd: 0.25 }], 0.25],
    ["the price is not known", [{ tokens: 100, usd: 0 }], null]
  ] as const)("say what proposals have cost where %s", ([, calls, cost]) =>
    Effect.gen(function* () {
      const journal = yield* Journal
      for (const spent of calls)
        yield* journal.charge({ rollouts: 0, calls: 1, seconds: 1, phase: "proposing", redone: false, ...spent })
      assert.strictEqual(yield* EvolutionStatus.spentUsd(journal), cost)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})

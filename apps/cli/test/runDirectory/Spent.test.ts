import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Journal, type LedgerTotal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, FileSystem, Schema } from "effect"
import { noted, readSpent, unbooked } from "../../src/runDirectory/Spent.ts"

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))
const Expense = Schema.Struct({ rollouts: Count, tokens: Count, calls: Count, usd: Count, seconds: Count })
const Step = Schema.Struct({
  kind: Schema.Literals(["append", "charge", "reserve", "settle", "lose"]),
  phase: Schema.Literals(["train", "proposing"]),
  expense: Expense
})

const amounts = ["rollouts", "tokens", "calls", "usd", "seconds"] as const
const known = (ledger: ReadonlyArray<LedgerTotal>) =>
  new Map(ledger.map((total) => [total.phase, amounts.map((amount) => total[amount])]))

describe("what a run has noted of its spending", () => {
  it.effect.prop(
    "is what its ledger says after every commit, and brings back what a ledger lost",
    [Schema.Array(Step)],
    ([steps]) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const directory = yield* fs.makeTempDirectoryScoped()
        const stored = yield* Journal
        const open: Array<number> = []
        let events = 0
        /** That no more is noted than is stored, just before and just after a commit: where a crash may be. */
        const notMore = Effect.gen(function* () {
          const spent = yield* readSpent(directory)
          if (spent === null) return
          assert.isAtMost(spent.events, events)
          assert.deepStrictEqual(unbooked(spent, yield* stored.ledger), [])
        }).pipe(Effect.provideService(FileSystem.FileSystem, fs), Effect.orDie)
        const around = <A, E>(commit: Effect.Effect<A, E>) => notMore.pipe(Effect.andThen(commit), Effect.tap(notMore))
        const journal = yield* noted(
          {
            ...stored,
            append: (added) => around(stored.append(added)),
            charge: (entry) => around(stored.charge(entry)),
            reserve: (entries) => around(stored.reserve(entries)),
            settle: (settlements) => around(stored.settle(settlements))
          },
          directory,
          0
        )
        for (const [index, { expense, kind, phase }] of steps.entries()) {
          if (kind === "append") {
            yield* journal.append([{ type: "Tested", step: 0, payload: null }])
            events++
          }
          if (kind === "charge") yield* journal.charge({ ...expense, phase, redone: false })
          if (kind === "reserve") open.push(...(yield* journal.reserve([{ ...expense, phase, key: `${index}` }])))
          const id = kind === "settle" ? open.pop() : undefined
          if (id !== undefined) yield* journal.settle([{ ...expense, id }])

          const spent = yield* readSpent(directory)
          const ledger = yield* stored.ledger
          if (spent === null) return assert.fail("nothing is noted")
          assert.strictEqual(spent.events, events)
          for (const [phase, sums] of known(ledger))
            assert.deepStrictEqual(
              amounts.map((amount) => spent.phases[phase]?.[amount] ?? 0),
              sums,
              phase
            )
          if (kind !== "lose") continue
          // Another journal knows a part of it, or nothing.
          const kept = ledger.slice(0, expense.calls % (ledger.length + 1))
          yield* Effect.gen(function* () {
            const poorer = yield* Journal
            const charge = (total: LedgerTotal) => {
              const { calls, phase, rollouts, seconds, tokens, usd } = total
              return poorer.charge({ calls, phase, rollouts, seconds, tokens, usd, redone: false })
            }
            yield* Effect.forEach(kept, charge)
            yield* Effect.forEach(unbooked(spent, yield* poorer.ledger), poorer.charge)
            const [again, before] = [known(yield* poorer.ledger), known(ledger)]
            for (const [phase, sums] of before)
              if (sums.some((sum) => sum > 0)) assert.deepStrictEqual(again.get(phase), sums, phase)
          }).pipe(Effect.provide(layerMemory, { local: true }))
        }
      }).pipe(Effect.scoped, Effect.provide([layerMemory, NodeServices.layer], { local: true })),
    { arbitrary: { runs: 40 } }
  )
})

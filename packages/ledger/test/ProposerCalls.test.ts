import { assert, describe, it } from "@effect/vitest"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Bookkeeping, Ledger, ProposerCalls } from "@inspo/ledger"
import { ProposerError } from "@inspo/reflection"
import { Effect, Schema } from "effect"

const Call = Schema.Struct({
  key: Schema.Literals(["a", "b", "c"]),
  attempt: Schema.Literals([0, 1]),
  usd: Schema.Literals([0, 1, 2, 5]),
  isFailing: Schema.Boolean
})
const Sessions = Schema.Array(Schema.Array(Call))
const Limit = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 12 })))

/** The most that a call of these tests can cost. */
const atMost = { calls: 1, tokens: 100, usd: 5 }

describe("a call to a proposer", () => {
  it.effect.prop(
    "is answered from the record, refused at the limit, or made and booked; in one session or in several",
    [Sessions, Limit],
    Effect.fnUntraced(function* ([sessions, usd]) {
      const expected: Array<string> = []
      const actual: Array<string> = []
      const known = new Map<string, string>()
      let paid = 0
      let asked = 0
      for (const session of sessions) {
        const makeCall = yield* ProposerCalls.make(yield* Bookkeeping.make({ ...Ledger.unlimited, usd }))
        for (const call of session) {
          const id = `${call.key}/${call.attempt}`
          const text = `answer ${asked}`
          const spent = { calls: 1, tokens: 7, usd: call.usd }
          const ask = Effect.suspend(() => {
            asked++
            return call.isFailing
              ? Effect.fail(new ProposerError({ proposer: "test", reason: "no answer", spent }))
              : Effect.succeed({ text, end: "done" as const, spent })
          })
          const answer = makeCall("proposing", 1, call.attempt)({ key: call.key, atMost }, ask)
          actual.push(yield* Effect.match(answer, { onSuccess: (made) => made.text, onFailure: ({ _tag }) => _tag }))
          const before = known.get(id)
          if (before === undefined && (usd === null || paid < usd)) {
            paid += call.usd
            if (!call.isFailing) known.set(id, text)
            expected.push(call.isFailing ? "ProposerError" : text)
          } else expected.push(before ?? "BudgetReached")
        }
      }
      assert.deepStrictEqual(actual, expected)
      const { open, total } = yield* Effect.map((yield* Journal).ledger, Ledger.summarize)
      assert.deepStrictEqual([total.usd, total.calls, open], [paid, asked, Ledger.nothing])
    }, Effect.provide(layerMemory))
  )

  it.effect("of unknown price is not made under a limit in dollars, and made without one", () =>
    Effect.gen(function* () {
      const spent = { calls: 1, tokens: 7, usd: null }
      const call = { key: "a", atMost: spent }
      const ask = Effect.succeed({ text: "answer", end: "done" as const, spent })
      const under = Effect.fnUntraced(function* (usd: number | null) {
        const makeCall = yield* ProposerCalls.make(yield* Bookkeeping.make({ ...Ledger.unlimited, usd }))
        return yield* makeCall("proposing", 1, 0)(call, ask)
      })
      const refused = yield* Effect.flip(under(3))
      assert.deepInclude(refused, { _tag: "UnknownPrice", limit: 3 })
      assert.include(refused.message, "3 US dollars")
      assert.strictEqual((yield* under(null)).text, "answer")
    }).pipe(Effect.provide(layerMemory))
  )
})

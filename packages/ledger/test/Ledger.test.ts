import { assert, describe, it } from "@effect/vitest"
import { Ledger } from "@inspo/ledger"
import { Schema } from "effect"

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))
const Amounts = Schema.Struct({ rollouts: Count, tokens: Count, calls: Count, usd: Count, seconds: Count })
const Limit = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })))
const Budget = Schema.Struct({ usd: Limit, rollouts: Limit, tokens: Limit, minutes: Limit })

describe("reached", () => {
  it.prop(
    "names a cap exactly when what is certain does not fit, or nothing is left of what is not",
    [Budget, Amounts, Schema.Literals([0, 1, 5, 50])],
    ([budget, spent, count]) => {
      const used = { ...spent, minutes: spent.seconds / 60 }
      const broken = (["usd", "rollouts", "tokens", "minutes"] as const).find((cap) => {
        const limit = budget[cap] ?? Infinity
        return used[cap] >= limit || (cap === "rollouts" && used[cap] + count > limit)
      })
      const reached = Ledger.reached(budget, spent, Ledger.needs.rollouts(count))
      assert.strictEqual(reached?.cap ?? null, broken ?? null)
      if (reached !== null)
        assert.deepStrictEqual([reached.limit, reached.spent], [budget[reached.cap], used[reached.cap]])
    }
  )

  it.prop("leaves work alone that does not touch the cap", [Budget, Amounts], ([budget, spent]) => {
    assert.notStrictEqual(Ledger.reached(budget, spent, Ledger.needs.call)?.cap, "rollouts")
    assert.include([undefined, "minutes"], Ledger.reached(budget, spent, Ledger.needs.time)?.cap)
  })

  it.prop("never forbids anything without a budget", [Amounts], ([spent]) => {
    const none = { usd: null, rollouts: null, tokens: null, minutes: null }
    assert.isNull(Ledger.reached(none, spent, Ledger.needs.rollouts(100)))
  })
})

describe("summarize", () => {
  const Total = Schema.Struct({
    ...Amounts.fields,
    phase: Schema.Literals(["train", "proposing", "verification", "later"]),
    redone: Amounts,
    open: Amounts
  })

  it.prop("adds up what the phases spent, in their order", [Schema.Array(Total)], ([totals]) => {
    const { open, phases, redone, total } = Ledger.summarize(totals)
    for (const amount of ["rollouts", "tokens", "calls", "usd", "seconds"] as const) {
      const sum = (of: (one: (typeof totals)[number]) => number) => totals.reduce((all, one) => all + of(one), 0)
      assert.strictEqual(
        total[amount],
        sum((one) => one[amount])
      )
      assert.strictEqual(
        redone[amount],
        sum((one) => one.redone[amount])
      )
      assert.strictEqual(
        open[amount],
        sum((one) => one.open[amount])
      )
    }
    const order = ["train", "proposing", "verification", "later"]
    const places = phases.map(({ phase }) => order.indexOf(phase))
    assert.deepStrictEqual(
      places,
      places.toSorted((a, b) => a - b)
    )
  })
})

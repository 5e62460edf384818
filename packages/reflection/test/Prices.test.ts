import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Prices, Spent } from "../src/index.ts"

describe("priceOf", () => {
  it("finds a model with and without its date, and a user's own row first", () => {
    const listed = { model: "claude-sonnet-4-5", input: 3, output: 15 }
    assert.deepStrictEqual(Prices.priceOf("claude-sonnet-4-5", []), listed)
    assert.deepStrictEqual(Prices.priceOf("claude-sonnet-4-5-20250929", []), listed)
    assert.strictEqual(Prices.priceOf("gpt-4.1-2025-04-14", [])?.input, 2)
    const own = { model: "claude-sonnet-4-5", input: 1, output: 1 }
    assert.deepStrictEqual(Prices.priceOf("claude-sonnet-4-5-20250929", [own]), own)
  })

  it("does not guess", () => {
    for (const model of ["gpt-4", "gpt-4.1-giant", "qwen3", "claude-sonnet-4-5-2025", ""])
      assert.isNull(Prices.priceOf(model, []), model)
    assert.isNull(Prices.usd(null, { input: 1, output: 1 }))
  })

  it("reckons per million tokens", () => {
    assert.strictEqual(Prices.usd({ model: "m", input: 2, output: 8 }, { input: 500_000, output: 250_000 }), 3)
  })
})

describe("Spent.add", () => {
  it.prop("is a sum, unknown where a part is", [Spent.Spent, Spent.Spent, Schema.Boolean], ([a, b, isKnown]) => {
    const known = { ...b, usd: isKnown ? 1 : null }
    const both = Spent.add(a, known)
    assert.deepStrictEqual([both.calls, both.tokens], [a.calls + b.calls, a.tokens + b.tokens])
    assert.strictEqual(both.usd === null, a.usd === null || !isKnown)
    assert.strictEqual(Spent.add(Spent.nothing, known).usd, known.usd)
  })
})

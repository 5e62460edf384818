import { Spent } from "@inspo/domain"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Prices } from "../src/index.ts"

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

  it("lists each model once, above zero, and a dated name only where its price is another", () => {
    const byName = new Map(Prices.listed.map((row) => [row.model, row]))
    assert.strictEqual(byName.size, Prices.listed.length)
    assert.match(Prices.listedOn, /^20\d\d-\d\d-\d\d$/u)
    for (const { input, model, output } of Prices.listed) {
      assert.isAbove(Math.min(input, output), 0, model)
      const undated = byName.get(model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/u, ""))
      if (undated !== undefined && undated.model !== model)
        assert.notDeepEqual({ ...undated, model }, { input, model, output })
    }
    assert.isAtLeast(Number(Prices.listedOn.slice(0, 4)), 2026)
    assert.isNotNull(Prices.priceOf("claude-opus-4-6", []))
  })

  it("names models without a price, each once, with the day of the list", () => {
    assert.isNull(Prices.unknown([], "x"))
    const said = Prices.unknown(["qwen3", "own", "qwen3"], "give it with --price IN/OUT") ?? ""
    assert.match(
      said,
      /^The price of qwen3 and own is not in the list of 20[\d-]+, .*; give it with --price IN\/OUT\.$/u
    )
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

import { assert, describe, it } from "@effect/vitest"
import { Choice } from "@inspo/domain"
import { Result, Schema } from "effect"

const unknown: number | null = null
const on: boolean = true
const numbers: ReadonlyArray<number> = []
const costs: Readonly<Record<string, number>> = { search: 0.1 }
const methods = [
  { name: "sum", defaults: {} },
  { name: "power", defaults: { p: 2, scaled: on, weights: numbers } },
  { name: "discount", defaults: { gamma: unknown, costs } },
  {
    name: "words",
    defaults: { separator: null, lines: ["a"] },
    parameters: { separator: Schema.NullOr(Schema.Literals(["comma", "dot"])), lines: Schema.Array(Schema.String) }
  }
] as const
const Rule = Choice.of(methods, "How to add")
const decode = Schema.decodeUnknownResult(Rule, { onExcessProperty: "error" })
const power = { name: "power", p: 2, scaled: true, weights: [] } as const
const discount = { name: "discount", gamma: 0.9, costs } as const
const words = { name: "words", separator: null, lines: ["a"] } as const

describe("Choice", () => {
  it.each([
    ["sum", { name: "sum" }],
    [{ name: "sum" }, { name: "sum" }],
    ["power", power],
    [
      { name: "power", p: 3 },
      { ...power, p: 3 }
    ],
    [
      { name: "power", scaled: false, weights: [1, 2] },
      { ...power, scaled: false, weights: [1, 2] }
    ],
    [{ name: "discount", gamma: 0.9 }, discount],
    [
      { name: "discount", gamma: 0.9, costs: {} },
      { ...discount, costs: {} }
    ],
    ["words", words],
    [
      { name: "words", separator: "dot" },
      { ...words, separator: "dot" }
    ]
  ])("completes %j", (written, expected) => {
    assert.deepStrictEqual<unknown>(Result.getOrThrow(decode(written)), expected)
  })

  it.prop("is encoded as the name alone iff all parameters are defaults, and reads back", [Rule], ([value]) => {
    const encoded = Schema.encodeSync(Rule)(value)
    assert.deepStrictEqual(Schema.decodeSync(Rule)(encoded), value)
    const all = value.name === "power" && value.p === 2 && value.scaled && value.weights.length === 0
    if (value.name === "power") assert.strictEqual(typeof encoded === "string", all)
    if (value.name === "discount") assert.deepStrictEqual<unknown>(encoded, value)
  })

  it("is encoded as the name where all parameters are defaults", () => {
    assert.strictEqual(Schema.encodeSync(Rule)(power), "power")
    assert.strictEqual(Schema.encodeSync(Rule)(words), "words")
  })

  it.each([
    ["product", /"sum" \| "power" \| "discount"/u],
    [{ name: "product" }, /"sum" \| "power" \| "discount"/u],
    [{ p: 2 }, /"sum" \| "power" \| "discount"/u],
    [{ name: "power", q: 3 }, /no excess property[^]*\["q"\]/u],
    [{ name: "power", p: "two" }, /number/u],
    [{ name: "power", weights: ["a"] }, /number/u],
    ["discount", /number[^]*\["gamma"\]/u],
    [{ name: "words", separator: "semicolon" }, /"comma" \| "dot"/u],
    [3, /"sum"/u]
  ])("refuses %j, and says what is known", (written, message) => {
    const result = decode(written)
    assert.isTrue(Result.isFailure(result) && message.test(result.failure.message), String(result))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { JsonText } from "@inspo/domain"
import * as fc from "fast-check"

describe("JSON", () => {
  it("is read like JSON.parse, but integers that no number holds become text", () => {
    const value = fc
      .jsonValue({ maxDepth: 3 })
      .filter((one) => !/(?<![\d.])\d{16,}(?![\d.e])/u.test(JSON.stringify(one)))
    fc.assert(
      fc.property(value, fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }), fc.boolean(), (one, large, negative) => {
        const integer = `${negative ? "-" : ""}${large}`
        const text = JSON.stringify({ one, text: `"${integer}\\`, fraction: 0.12345678901234568 })
        assert.deepStrictEqual(JsonText.parse(`[${text}, ${integer}]`), [JSON.parse(text), integer])
      })
    )
    for (const wrong of ["", "{", "01234567890123456789", "[1 12345678901234567890]"])
      assert.throws(() => JsonText.parse(wrong), SyntaxError)
  })

  it("has the members that its object has, as they are written", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.jsonValue({ maxDepth: 3 }))), fc.integer(), (given, indent) => {
        const written = given.map(([name, value]) => [name, JSON.stringify(value)] as const)
        const space = " ".repeat(Math.abs(indent % 4))
        const text = `{${written.map(([name, value]) => `${space}${JSON.stringify(name)}:${space}${value}\n`).join(",")}}`
        assert.deepStrictEqual(JsonText.members(text), written)
      })
    )
    assert.deepStrictEqual(JsonText.members('{"a": [1.0, {"b" : 9007199254740993}]}'), [
      ["a", '[1.0,{"b":9007199254740993}]']
    ])
    for (const wrong of ["", "[]", "null", "7", '"{"', "{", "{}}"]) assert.isNull(JsonText.members(wrong))
  })

  it("may be nested as deeply as one likes", () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`
    assert.deepStrictEqual(JsonText.members(`{"a":${deep}}`), [["a", deep]])
  })
})

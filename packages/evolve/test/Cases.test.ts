import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Cases from "../src/Cases.ts"

describe("a file of cases", () => {
  it.each([
    ["a number as it is written", '{"input": 9007199254740993, "expected": 1.0}', "9007199254740993", "1.0"],
    ["a text without change", '{"input": "1.0", "expected": "null"}', "1.0", "null"],
    ["a structure without its spaces", '{"input": [1.0, {"a": 2e3}], "expected": true}', '[1.0,{"a":2e3}]', "true"],
    ["a byte order mark", '\uFEFF{"input": "a", "expected": "x"}\r\n\r\n', "a", "x"]
  ])("keeps %s", (_, text, input, expected) => {
    assert.deepStrictEqual(Cases.parseFile("a.jsonl", text), [{ input, expected }])
  })

  it("has no member where there is null", () => {
    assert.deepStrictEqual(Cases.parseFile("a.jsonl", '{"input": "a", "expected": null}'), [{ input: "a" }])
  })

  it("is the same rows as CSV and as JSONL", () => {
    const cell = fc
      .string({ unit: fc.constantFrom(..."aé \"',\n0.") })
      .filter((text) => text.trim() === text && text !== "")
    fc.assert(
      fc.property(fc.array(fc.record({ input: cell, expected: cell }), { minLength: 1 }), (rows) => {
        const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
        const csv = rows.map(({ expected, input }) => `${quoted(input)},${quoted(expected)}\n`).join("")
        assert.deepStrictEqual(Cases.parseFile("a.csv", `\uFEFFinput,expected\n${csv}`), rows)
        assert.deepStrictEqual(Cases.parseFile("a.jsonl", rows.map((row) => JSON.stringify(row)).join("\n")), rows)
      })
    )
  })

  it.each([
    [
      "a.csv",
      "input,input,expected\na,b,x\n",
      /^cases: column "input" of a\.csv is there twice; expected names that differ$/u
    ],
    ["a.tsv", "input\tx\tx\na\tb\tc\n", /column "x" of a\.tsv is there twice/u],
    ["a.jsonl", '{"input": "a"}\n{"input": "a", "input": "b"}', /column "input" of a\.jsonl:2 is there twice/u],
    ["a.jsonl", "[1]", /^cases: a\.jsonl:1 is \[1\]; expected one JSON object on each line$/u]
  ])("is refused by its name and place: %s %j", (file, text, problem) => {
    assert.throws(() => Cases.parseFile(file, text), problem)
  })

  it("is UTF-8, and nothing is replaced", () => {
    assert.strictEqual(Cases.decode("a.csv", new TextEncoder().encode("é")), "é")
    assert.throws(
      () => Cases.decode("a.csv", new Uint8Array([0x61, 0xe9])),
      /a\.csv is byte 2 \(0xE9\) is not UTF-8; .*iconv/u
    )
  })
})

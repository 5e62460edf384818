import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { PlainText } from "../src/index.ts"

describe("json", () => {
  it("shows any value within its length, including one nested too deeply for JSON", () => {
    assert.strictEqual(PlainText.json({ a: [1] }, 20), '{"a":[1]}')
    assert.strictEqual(PlainText.json("x".repeat(20), 5), '"xxxx…')
    assert.strictEqual(PlainText.json(undefined, 20), "nothing")
    const deep: unknown = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`)
    assert.strictEqual(PlainText.json(deep, 100), "a value nested too deeply to be shown")
  })
})

const Piece = Schema.Literals([
  "a",
  "\n",
  "\t",
  "\r\n",
  "\r",
  "\u001b[2J",
  "\u009b",
  "\u0000",
  "\u202E",
  "\u2066",
  "\u200B",
  "\u200C",
  "\u200D",
  "\u00AD",
  "\uFEFF",
  "\uFE0F",
  "\u{E0041}",
  "\u2028",
  "\u2029",
  "\u0085",
  "\v",
  "\uD800",
  "❤️",
  "👩🏽‍💻",
  "م",
  "क्"
])

describe("PlainText.escape", () => {
  it.prop("makes every hidden character visible, and leaves the rest unchanged", [Schema.Array(Piece)], ([drawn]) => {
    const text = drawn.join("")
    const shown = PlainText.escape(text)
    assert.deepStrictEqual(PlainText.hiddenIn(shown), [])
    assert.notMatch(shown, /[^\P{Cc}\r\n\t]|\r(?!\n)|[\u202A-\u202E\u2066-\u2069]/u)
    assert.strictEqual(PlainText.escape(shown), shown)
    assert.strictEqual(shown === text, PlainText.hiddenIn(text).length === 0)
    const back = shown.replaceAll(/\\u\{([\da-f]+)\}/gu, (_, digits) =>
      String.fromCodePoint(Number.parseInt(digits, 16))
    )
    assert.strictEqual(back, text)
  })

  it.each(["👨‍👩‍👧‍👦 ❤️ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ☺︎", "👁️‍🗨 👁‍🗨", "می‌خواهم", "क्‍ष അവന്‍", "Łódź, Αθήνα, 東京"])("leaves %j as it is", (text) => {
    assert.strictEqual(PlainText.escape(text), text)
  })
})

describe("PlainText.jsonLine", () => {
  it.prop("is one line for every reader, and the same value", [Schema.Array(Piece)], ([drawn]) => {
    const line = PlainText.jsonLine(drawn)
    assert.deepStrictEqual(JSON.parse(line), drawn)
    assert.notMatch(line.slice(0, -1), /[\n\v\f\r\u0085\u2028\u2029]/u)
    assert.isTrue(line.endsWith("\n"))
  })
})

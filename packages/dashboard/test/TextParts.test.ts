import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type TextPart, textParts } from "../src/TextParts.ts"

const Part = Schema.Struct({
  kind: Schema.Literals(["think", "search", "information", "answer", "plain"]),
  text: Schema.Literals(["who", "a < b", "x > y", "<", "</i>", "mayor\nof Ard", " two  words "])
})
const Any = Schema.Array(Schema.Literals(["<think>", "</think>", "<1", ">", "<", "</", "who", " ", "<b>", "</b>"]))

describe("textParts", () => {
  it("names the parts by their tags, and other text plain", () => {
    assert.deepStrictEqual(textParts("<think>a</think> b <Search>c <i>d</i></Search><answer>e"), [
      { kind: "think", text: "a" },
      { kind: "plain", text: " b " },
      { kind: "search", text: "c <i>d</i>" },
      { kind: "answer", text: "e" }
    ])
  })

  it.prop("finds the parts of a text", [Schema.Array(Part)], ([parts]) => {
    const text = parts.map(({ kind, text }) => (kind === "plain" ? text : `<${kind}>${text}</${kind}>`)).join("")
    const expected: Array<TextPart> = []
    for (const part of parts) {
      const last = expected.at(-1)
      if (part.kind === "plain" && last?.kind === "plain")
        expected[expected.length - 1] = { kind: "plain", text: last.text + part.text }
      else expected.push(part)
    }
    assert.deepStrictEqual(textParts(text), expected)
  })

  it.prop("keeps every letter of any text outside of tags", [Any], ([pieces]) => {
    const letters = (text: string) => text.replaceAll(/<\/?(?:think|b|(?:who)+)>|[^a-z]/gu, "")
    const text = pieces.join("")
    const kept = textParts(text)
      .map((part) => part.text)
      // What stands beside a tag that is gone must not become one.
      .join(" ")
    assert.strictEqual(letters(kept), letters(text))
  })
})

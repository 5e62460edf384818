import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { distinction, wordDiff } from "@inspo/report"

const Words = Schema.Array(Schema.Literals(["search", "first", "be", "brief", ".", " ", "\n", "one", "two"]))

describe("wordDiff", () => {
  it("has one change for a rewritten sentence", () => {
    assert.deepStrictEqual(wordDiff("Start. Follow the chain. End.", "Start. Search for one. End."), [
      { kind: "same", text: "Start. " },
      { kind: "removed", text: "Follow the chain" },
      { kind: "added", text: "Search for one" },
      { kind: "same", text: ". End." }
    ])
  })

  it.prop("contains both texts", [Words, Words], ([before, after]) => {
    const from = before.join("")
    const to = after.join("")
    const pieces = wordDiff(from, to)
    const without = (kind: string) =>
      pieces
        .filter((piece) => piece.kind !== kind)
        .map(({ text }) => text)
        .join("")
    assert.strictEqual(without("added"), from)
    assert.strictEqual(without("removed"), to)
  })

  it.prop("has no changes for equal texts", [Words], ([words]) => {
    assert.isTrue(wordDiff(words.join(""), words.join("")).every(({ kind }) => kind === "same"))
  })
})

describe("the distinction of a text from its parent", () => {
  it("is the added words, else the removed ones, after any common start", () => {
    const common = "Answer the question. ".repeat(20)
    assert.strictEqual(distinction(common, `${common}Search twice.`, 80), "Search twice.")
    assert.strictEqual(distinction(`${common}Search twice.`, common, 80), "− Search twice.")
    assert.strictEqual(distinction(null, "Answer.", 80), "Answer.")
    assert.strictEqual(distinction("Answer.", "Answer.", 80), "the same words")
  })

  it.prop("fits", [Words, Words], ([before, after]) => {
    assert.isAtMost(distinction(before.join(" "), after.join(" "), 20).length, 20)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { distinction, wordDiff } from "../src/WordDiff.ts"

const Words = Schema.Array(Schema.Literals(["search", "first", "be", "brief", ".", " ", "\n", "one", "two"]))

describe("wordDiff", () => {
  it("tells a rewritten sentence as one", () => {
    assert.deepStrictEqual(wordDiff("Start. Follow the chain. End.", "Start. Search for one. End."), [
      { kind: "same", text: "Start. " },
      { kind: "removed", text: "Follow the chain" },
      { kind: "added", text: "Search for one" },
      { kind: "same", text: ". End." }
    ])
  })

  it.prop("is both texts at once", [Words, Words], ([before, after]) => {
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

  it.prop("has nothing to tell of equal texts", [Words], ([words]) => {
    assert.isTrue(wordDiff(words.join(""), words.join("")).every(({ kind }) => kind === "same"))
  })
})

describe("what distinguishes a text from its parent", () => {
  it("is what it adds, else what it drops, however long the beginning is that both share", () => {
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

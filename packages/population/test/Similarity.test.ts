import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Similarity } from "../src/index.ts"

const Word = Schema.Literals(["search", "Search", "answer", "first", "<search>", "then", "briefly", "."])
const Text = Schema.Array(Word).check(Schema.isMaxLength(12))
const text = (words: ReadonlyArray<string>) => words.join(" ")

describe("of", () => {
  it.prop("lies in [0, 1] and does not know which text comes first", [Text, Text], ([a, b]) => {
    const similarity = Similarity.of(text(a), text(b))
    assert.isTrue(similarity >= 0 && similarity <= 1)
    assert.strictEqual(similarity, Similarity.of(text(b), text(a)))
  })

  it.prop("is 1 for a text and itself, whatever its case, punctuation and white space", [Text], ([words]) => {
    assert.strictEqual(Similarity.of(text(words), ` ${words.join("  ").toUpperCase()} !`), 1)
  })

  it.prop("falls when words are added that the other text does not have", [Text], ([words]) => {
    const longer = [...words, "quite", "other", "words"]
    assert.isBelow(Similarity.of(text(words), text(longer)), 1)
  })

  it("counts the runs of three words that two texts share", () => {
    assert.strictEqual(Similarity.of("a b c d", "a b c e"), 1 / 3)
    assert.strictEqual(Similarity.of("a b c", "d e f"), 0)
    assert.strictEqual(Similarity.of("use <search> now", "use search now"), 0)
  })
})

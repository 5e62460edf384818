import { assert, describe, it } from "@effect/vitest"
import { ExactMatch, Rewards } from "@inspo/reward"
import { Schema } from "effect"

// Pieces in which Python and JavaScript differ, or that the normalisation removes.
const words = ["the", "The", "a", "AN", "Ostrel", "bay", "é", "ß", "_", "1", "ΣΑΣ", "İ", "theatre"] as const
const signs = [" ", "\n", "\x1c", "\x85", "\xa0", "\ufeff", "\u2003", ".", ",", "'", "’", "-", "\u0301"] as const
const Piece = Schema.Literals([...words, ...signs])
const Text = Schema.Array(Piece)
const join = (pieces: ReadonlyArray<string>) => pieces.join("")

describe("normalizeAnswer", () => {
  it.prop("is idempotent", [Text], ([pieces]) => {
    const once = ExactMatch.normalizeAnswer(join(pieces))
    assert.strictEqual(ExactMatch.normalizeAnswer(once), once)
  })

  it.prop("leaves no ASCII punctuation and no outer or double spaces", [Schema.String], ([text]) => {
    const normalized = ExactMatch.normalizeAnswer(text)
    assert.notMatch(normalized, /[!-/:-@[-`{-~]/)
    assert.notMatch(normalized, /^ | $| {2}/)
  })

  it.prop("does not see case, surrounding space, articles before or punctuation within", [Text], ([pieces]) => {
    const text = join(pieces)
    const normalized = ExactMatch.normalizeAnswer(text)
    assert.strictEqual(ExactMatch.normalizeAnswer(` \x1f${text}\x85 `), normalized)
    assert.strictEqual(ExactMatch.normalizeAnswer(`The ${text}`), normalized)
    assert.strictEqual(ExactMatch.normalizeAnswer(pieces.join(".")), normalized)
  })
})

describe("exactMatch", () => {
  it.prop("does not depend on the order of the golden answers", [Text, Schema.Array(Text)], ([pieces, golds]) => {
    const texts = golds.map(join)
    assert.strictEqual(
      ExactMatch.exactMatch(join(pieces), texts),
      ExactMatch.exactMatch(join(pieces), texts.toReversed())
    )
  })

  it.prop("is symmetric, and 1 for the answer itself among any others", [Text, Text], ([a, b]) => {
    assert.strictEqual(ExactMatch.exactMatch(join(a), [join(b)]), ExactMatch.exactMatch(join(b), [join(a)]))
    assert.strictEqual(ExactMatch.exactMatch(join(a), [join(b), join(a)]), 1)
  })

  it.prop("implies the weaker measures", [Text, Schema.Array(Text)], ([pieces, golds]) => {
    const texts = golds.map(join)
    const exact = ExactMatch.exactMatch(join(pieces), texts)
    assert.isAtLeast(ExactMatch.substringExactMatch(join(pieces), texts), exact)
    const f1 = ExactMatch.f1(join(pieces), texts)
    assert.isTrue(exact <= f1 && f1 <= 1)
  })

  it.prop(
    "and every other measure only gains by aliases",
    [Text, Schema.Array(Text), Text],
    ([pieces, golds, alias]) => {
      const texts = golds.map(join)
      for (const { measure } of [Rewards.builtIn.em, Rewards.builtIn.subem, Rewards.builtIn.f1])
        assert.isAtLeast(measure(join(pieces), [...texts, join(alias)]), measure(join(pieces), texts))
    }
  )

  it("is 0 without golden answers", () => {
    assert.strictEqual(ExactMatch.exactMatch("", []), 0)
    assert.strictEqual(ExactMatch.substringExactMatch("", []), 0)
    assert.strictEqual(ExactMatch.f1("", []), 0)
  })
})

describe("f1", () => {
  it("counts shared words as a multiset", () => {
    assert.strictEqual(ExactMatch.f1("Ostrel Ostrel Bay", ["Ostrel Bay"]), 0.8)
    assert.strictEqual(ExactMatch.f1("Ostrel Hill", ["Ostrel Bay", "Ostrel"]), 2 / 3)
  })

  it.prop("is symmetric, and 0 exactly when no word is shared", [Text, Text], ([a, b]) => {
    const f1 = ExactMatch.f1(join(a), [join(b)])
    assert.strictEqual(f1, ExactMatch.f1(join(b), [join(a)]))
    const words = (pieces: ReadonlyArray<string>) => ExactMatch.normalizeAnswer(join(pieces)).split(" ")
    assert.strictEqual(
      f1 > 0,
      words(a).some((word) => words(b).includes(word))
    )
  })

  it("pays nothing for a yes or a no that only stands in a sentence", () => {
    assert.strictEqual(ExactMatch.f1("yes, both are rivers", ["yes"]), 0)
    assert.strictEqual(ExactMatch.f1("No", ["no, neither is"]), 0)
    assert.strictEqual(ExactMatch.f1("Yes.", ["no", "yes"]), 1)
  })
})

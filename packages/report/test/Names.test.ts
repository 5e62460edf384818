import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { labels, longest, names, withLabels } from "@inspo/report"

const Words = Schema.Array(
  Schema.Literals(["search", "first", "be", "brief", ".", "\n", "🙂", "a considerably longer word", "seed", "(2)", ""])
)

/** Instructions of which each has any earlier one as its parent. */
const Family = Schema.Array(Schema.Struct({ words: Words, parent: Schema.Int, isLong: Schema.Boolean }))

const familyOf = (members: typeof Family.Type) =>
  members.map(({ isLong, parent, words }, place) => ({
    id: `i${place}`,
    text: `Answer the question. ${isLong ? "Look up each name in every question and " : ""}${words.join(" ")}`,
    parent: place === 0 ? null : `i${Math.abs(parent) % place}`
  }))

describe("the names of instructions", () => {
  it("are what each adds to its parent", () => {
    const common = "Answer the question in one word. ".repeat(5)
    const label = labels(
      names([
        { id: "i0", text: common, parent: null },
        { id: "i1", text: `${common}Search twice.`, parent: "i0" },
        { id: "i2", text: `${common}Search twice. Be brief.`, parent: "i1" },
        { id: "i3", text: `${common}Be brief.`, parent: "i0" }
      ])
    )
    assert.deepStrictEqual(["i0", "i1", "i2", "i3", "i4"].map(label), [
      "i0 (seed)",
      "i1 “Search twice.”",
      "i2 “Be brief.”",
      "i3 “Be brief. (2)”",
      "i4"
    ])
  })

  it.prop("differ for different texts, are equal for equal ones, and fit", [Family], ([members]) => {
    const family = familyOf(members)
    const named = names(family)
    for (const { id, text } of family) {
      const name = named.get(id) ?? ""
      assert.isAbove(name.length, 0)
      assert.isAtMost(name.length, longest)
      assert.isTrue(name.isWellFormed(), name)
      for (const other of family) assert.strictEqual(named.get(other.id) === name, other.text === text)
    }
  })

  it.prop(
    "are written after the ids in a sentence, which stays otherwise as it is",
    [Family, Words],
    ([members, words]) => {
      const named = names(familyOf(members))
      const label = labels(named)
      const ids = [...named.keys()]
      const sentence = words.join(" ")
      assert.strictEqual(withLabels(labels(new Map()), sentence), sentence)
      assert.strictEqual(
        withLabels(label, [sentence, ...ids, "i1x"].join(", ")),
        [withLabels(label, sentence), ...ids.map(label), "i1x"].join(", ")
      )
    }
  )

  it.prop("stay when others are added", [Family], ([members]) => {
    const family = familyOf(members)
    const all = names(family)
    for (let end = 0; end <= family.length; end++)
      for (const [id, name] of names(family.slice(0, end))) assert.strictEqual(all.get(id), name)
  })
})

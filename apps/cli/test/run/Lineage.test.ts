import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type Descendant, lineageLines } from "../../src/report/LineageReport.ts"

const style = { columns: 80, canColor: false }

/** Instructions, each with the number of its parent. */
const descent = (texts: ReadonlyArray<string>, parents: ReadonlyArray<number>): ReadonlyArray<Descendant> =>
  [null, ...parents].map((parent, number) => ({
    id: `i${number}`,
    parent: parent === null ? null : `i${parent}`,
    title: `i${number}: at step ${number}`,
    text: texts[number] ?? `text ${number}`
  }))

const Word = Schema.Literals(["search", "first", "be", "brief", "answer", "once"])
const Text = Schema.NonEmptyArray(Word)

describe("lineageLines", () => {
  it.prop(
    "shows every instruction once, behind its parent, within 80 columns",
    [Schema.Array(Schema.Natural)],
    ([draws]) => {
      const all = descent(
        [],
        draws.map((draw, index) => draw % (index + 1))
      )
      const lines = lineageLines(all, style)
      const place = new Map(all.map(({ id }) => [id, lines.findIndex((line) => line.trimStart().startsWith(`${id}:`))]))
      assert.notInclude([...place.values()], -1)
      for (const { id, parent } of all) if (parent !== null) assert.isBelow(place.get(parent) ?? 0, place.get(id) ?? 0)
      assert.lengthOf(
        lines.filter((line) => /^ *i\d+:/u.test(line)),
        all.length
      )
      for (const line of lines) assert.isAtMost(line.length, style.columns, line)
    }
  )

  it("shows a line of a thousand generations within 80 columns", () => {
    const lines = lineageLines(
      descent(
        [],
        Array.from({ length: 1000 }, (_, index) => index)
      ),
      style
    )
    assert.isAtMost(Math.max(...lines.map(({ length }) => length)), style.columns)
  })

  it.prop("shows each instruction by the words its parent does not have, within 80 columns", [Text, Text], ([a, b]) => {
    const [from, to] = [a.join(" "), b.join(" ")]
    const lines = lineageLines(descent([from, to], [0]), style)
    for (const line of lines) assert.isAtMost(line.length, style.columns, line)
    const below = lines.slice(lines.findIndex((line) => line.includes("i1: at step 1")) + 1).join("\n")
    if (from === to) assert.include(below, "The same text.")
    else assert.match(below, /\{\+|\[-/u)
    const added = new Set(b.filter((word) => !a.includes(word)))
    for (const word of added) assert.include(below, word)
  })

  it("leaves out what parent and child share", () => {
    const shared = "Answer the question. Put the final answer between <answer> and </answer>."
    assert.deepStrictEqual(lineageLines(descent([shared, `${shared} Be brief.`], [0]), style).slice(-2), [
      "  i1: at step 1",
      "      … <answer> and </answer>. {+Be brief.+}"
    ])
  })
})

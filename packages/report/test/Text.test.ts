import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Text, duration } from "@inspo/report"

const Words = Schema.Array(Schema.String.check(Schema.isPattern(/^[a-z<>.]{1,90}$/))).check(Schema.isMaxLength(40))
const Columns = Schema.Int.check(Schema.isBetween({ minimum: 5, maximum: 80 }))

describe("wrap", () => {
  it.prop("fits the columns and loses nothing but spaces", [Words, Columns], ([words, columns]) => {
    const lines = Text.wrap(words.join(" "), columns)
    for (const line of lines) assert.isAtMost(line.length, columns)
    assert.strictEqual(lines.join("").replaceAll(" ", ""), words.join(""))
  })

  it.prop("keeps words whole that fit, and fills lines greedily", [Words, Columns], ([words, columns]) => {
    const short = words.map((word) => word.slice(0, columns))
    const lines = Text.wrap(short.join(" "), columns)
    assert.deepStrictEqual(
      lines.flatMap((line) => line.split(" ")),
      short
    )
    for (const [index, line] of lines.slice(1).entries())
      assert.isAbove((lines[index] ?? "").length + 1 + (line.split(" ")[0] ?? "").length, columns)
  })
})

describe("a command in backticks", () => {
  it.prop("is on one line wherever it fits", [Words, Columns], ([words, columns]) => {
    const command = "`inspo resume runs/a`"
    const lines = Text.wrap([...words, command, ...words].join(" "), Math.max(columns, command.length))
    assert.isTrue(lines.some((line) => line.includes(command)))
  })
})

describe("layout", () => {
  it.prop("paragraphs and clips fit the columns", [Words, Columns], ([words, columns]) => {
    for (const line of Text.paragraph(words.join(" "), "  ", columns)) assert.isAtMost(line.length, columns)
    assert.isAtMost(Text.clip(words.join(" "), columns).length, columns)
  })

  it("aligns the first column left and the others right", () => {
    assert.deepStrictEqual(
      Text.table([
        ["arm", "EM"],
        ["a", "0.5"],
        ["long name", "10.25"]
      ]),
      ["arm           EM", "a            0.5", "long name  10.25"]
    )
  })

  it.each([
    [0, "0 s"],
    [59.4, "59 s"],
    [60, "1 min 00 s"],
    [185, "3 min 05 s"],
    [7620, "2 h 07 min"]
  ])("writes %d seconds as %s", (seconds, text) => {
    assert.strictEqual(duration(seconds), text)
  })
})

import { stripVTControlCharacters } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { PlainText } from "@inspo/domain"
import { Schema } from "effect"
import { compareTexts, textLines } from "../../src/report/DiffReport.ts"

const Words = Schema.Array(Schema.Literals(["search", "twice,", "be", "brief.", "(a)", "once"]))
const text = (words: ReadonlyArray<string>) => words.join(" ")
const compare = (from: string, to: string) => compareTexts({ name: "a", text: from }, { name: "b", text: to })

/** The two texts as marks show them. */
const unmark = (lines: ReadonlyArray<string>) => {
  const joined = lines
    .slice(1)
    .map((line) => line.trim())
    .join(" ")
  const side = (kept: RegExp, dropped: RegExp) =>
    joined
      .replaceAll(dropped, "")
      .replaceAll(kept, "$1")
      .split(/\s+/u)
      .filter((word) => word !== "")
      .join(" ")
  return { from: side(/\[-(.*?)-\]/gu, /\{\+.*?\+\}/gu), to: side(/\{\+(.*?)\+\}/gu, /\[-.*?-\]/gu) }
}

describe("textLines", () => {
  it.prop("shows both texts whole, in lines of the width asked for", [Words, Words], ([a, b]) => {
    const [from, to] = [text(a), text(b)]
    const lines = textLines(compare(from, to), { columns: 40, canColor: false })
    for (const line of lines) assert.isAtMost(line.length, 40)
    if (from === to) assert.include(lines[1], "equal")
    else assert.deepStrictEqual(unmark(lines), { from, to })
  })

  it("lets no characters of the texts reach the terminal but those that show something", () => {
    const lines = textLines(compare("a \u001b[8mb", "a \u009b2Jc \u202Ed"), { columns: 40, canColor: true })
    assert.deepStrictEqual(PlainText.hiddenIn(stripVTControlCharacters(lines.join("\n"))), [])
    assert.include(lines.join(" "), String.raw`\u{1b}[8m`)
  })

  it.prop("colours nothing but what changed, and is as wide with colours", [Words, Words], ([a, b]) => {
    const difference = compare(text(a), text(b))
    const lines = textLines(difference, { columns: 40, canColor: true })
    for (const line of lines) assert.isAtMost(stripVTControlCharacters(line).length, 40)
    const isChanged = difference.pieces.some(({ kind }) => kind !== "same")
    assert.strictEqual(lines.join("").includes("\u001b["), isChanged)
  })

  it("reads as a text", () => {
    assert.deepStrictEqual(
      textLines(compare("Search once. Be brief.", "Search twice. Be brief."), { columns: 80, canColor: false }),
      ["a → b", "  Search [-once-]{+twice+}. Be brief."]
    )
  })
})

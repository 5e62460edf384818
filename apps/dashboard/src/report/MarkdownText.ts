/** Texts of models and users in Markdown, escaped. */
import * as PlainText from "@inspo/domain/PlainText"

/** A text on one line without Markdown, HTML or links, for a paragraph or a table cell. */
export const inline = (text: string): string =>
  PlainText.escape(text.replaceAll(/\s+/gu, " ").trim())
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/[\\`*_{}[\]#|~!@]/gu, String.raw`\$&`)
    .replaceAll("://", String.raw`:\/\/`)
    .replaceAll(/(www)\./giu, String.raw`$1\.`)
    .replace(/^([-+=>]|\d+(?=[.)]))/u, (start) => (/^\d/u.test(start) ? `${start}\\` : `\\${start}`))

/** A table whose first row is the head. Columns of numbers are right-aligned, the first column and texts left-aligned. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const [head = [], ...body] = rows
  const line = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`
  const isOfFigures = (index: number) => index > 0 && body.every((row) => figures.test(row[index] ?? ""))
  return [line(head), `|${head.map((_, index) => (isOfFigures(index) ? "---:|" : "---|")).join("")}`, ...body.map(line)]
}

/** Lines in a code block that none of them can end. */
export const fenced = (language: string, lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const longest = Math.max(2, ...lines.flatMap((line) => line.match(/`+/gu) ?? []).map(({ length }) => length))
  const fence = "`".repeat(longest + 1)
  return [`${fence}${language}`, ...lines.map(PlainText.escape), fence]
}

/** Lines behind a title that opens them, as pages of pull requests show them; nothing without lines. The title is constant HTML. */
export const folded = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : ["<details>", `<summary>${title}</summary>`, "", ...lines, "", "</details>", ""]

/** Numbers, shares, intervals, or nothing. */
const figures = /^(?:[-+−–\d.,:%[\]\s]|points)*$/u

/** Tables and folded parts of a report in Markdown. */

/** A table whose first row is the head. Columns of numbers are right-aligned, the first column and texts left-aligned. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const [head = [], ...body] = rows
  const line = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`
  const isOfFigures = (index: number) => index > 0 && body.every((row) => figures.test(row[index] ?? ""))
  return [line(head), `|${head.map((_, index) => (isOfFigures(index) ? "---:|" : "---|")).join("")}`, ...body.map(line)]
}

/** Lines behind a title that opens them, as pages of pull requests show them; nothing without lines. The title is constant HTML. */
export const folded = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : ["<details>", `<summary>${title}</summary>`, "", ...lines, "", "</details>", ""]

/** Numbers, shares, intervals, or nothing. */
const figures = /^(?:[-+−–\d.,:%[\]\s]|points)*$/u

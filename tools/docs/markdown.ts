/** Markdown as the pages of docs/reference hold it. */
const note = "This page is made by `node tools/docs/main.ts`; a test fails when it is out of date."

/** A page; its parts stand apart. */
export const page = (title: string, ...parts: ReadonlyArray<string>): string =>
  `${[`# ${title}`, note, ...parts].filter((part) => part !== "").join("\n\n")}\n`

/** A table with padded columns, as the formatter of this repository writes them; nothing without rows. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const cells = [head, ...rows].map((row) => row.map(cell))
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>) =>
    `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(" | ")} |`
  const [first = [], ...others] = cells
  return rows.length === 0
    ? ""
    : [line(first), line(widths.map((width) => "-".repeat(width))), ...others.map(line)].join("\n")
}

/** A cell on one line; angle brackets outside of code are no HTML. */
const cell = (text: string): string =>
  text
    .replaceAll("|", "\\|")
    .replaceAll(/\s*\n\s*/gu, " ")
    .split("`")
    .map((part, index) => (index % 2 === 0 ? part.replaceAll("<", "&lt;") : part))
    .join("`")

export const code = (text: string): string => `\`${text}\``

import { interval as intervalOf, percent } from "./Format.ts"
import { type Instruction, PlainText } from "@inspo/domain"

/** Widest line of any output; narrower terminals get shorter lines, wider ones do not get longer ones. */
export const maximumColumns = 80

/** Breaks a text at spaces into lines of at most `columns` characters; a command in backticks stays whole where it fits. */
export const wrap = (text: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  const words = (PlainText.escape(text).match(/`[^`]*`\S*|\S+/gu) ?? []).flatMap((part) =>
    part.length <= columns ? [part.replaceAll(/\s+/gu, " ")] : part.split(/\s+/u)
  )
  for (const word of words) {
    const joined = line === "" ? word : `${line} ${word}`
    if (joined.length <= columns) {
      line = joined
      continue
    }
    if (line !== "") lines.push(line)
    let rest = word
    while (rest.length > columns) {
      lines.push(rest.slice(0, columns))
      rest = rest.slice(columns)
    }
    line = rest
  }
  return line === "" ? lines : [...lines, line]
}

/** The lines of a text behind `indent`, within `columns` altogether. */
export const paragraph = (text: string, indent: string, columns: number): ReadonlyArray<string> =>
  wrap(text, Math.max(1, columns - indent.length)).map((line) => indent + line)

/** At most `columns` characters, the last of them an ellipsis when something is left out. */
export const clip = (text: string, columns: number): string => {
  const shown = PlainText.escape(text)
  return shown.length <= columns ? shown : `${shown.slice(0, Math.max(0, columns - 1))}…`
}

/** The texts of an instruction as one, each below its name. */
export const said = (content: Instruction.Content): string =>
  textsOf(content)
    .map(([name, text]) => (name === null ? text : `${name}: ${text}`))
    .join("\n")

/** The texts of an instruction with their names; a single text has the name null. */
export const textsOf = (content: Instruction.Content): ReadonlyArray<readonly [name: string | null, text: string]> =>
  typeof content === "string" ? [[null, content]] : Object.entries(content)

/** The texts of an instruction in one line. */
export const oneText = (content: Instruction.Content): string =>
  textsOf(content)
    .map(([, text]) => text)
    .join(" · ")

/** A value with so many digits, or a dash when it is not known. */
export const decimal = (value: number | null, digits = 2): string => (value === null ? "–" : value.toFixed(digits))

/** An interval of shares: `[48.1 %, 56.9 %]`, or a dash when it is not known. */
export const interval = (bounds: readonly [low: number, high: number] | null): string =>
  bounds === null ? "–" : intervalOf(bounds, percent)

/** Lines of equal columns: the first left-aligned, the others right-aligned, two spaces between. Nothing in them is hidden. */
export const table = (texts: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const rows = texts.map((row) => row.map((cell) => PlainText.escape(cell.replaceAll(/[\n\t]/gu, " "))))
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)))
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd()
  )
}

/** Two columns, of which the second is wrapped; a name that is too long for the first has a line of its own. */
export const rows = (
  all: ReadonlyArray<readonly [name: string, text: string]>,
  columns: number
): ReadonlyArray<string> => {
  const names = all.map(([name]) => name.length).filter((length) => length <= widestName)
  const indent = Math.max(0, ...names) + 4
  return all.flatMap(([name, text]) => {
    const [first = "", ...others] = wrap(text, columns - indent)
    const rest = others.map((line) => " ".repeat(indent) + line)
    const head = `  ${name}`
    return head.length + 2 <= indent
      ? [`${head.padEnd(indent)}${first}`.trimEnd(), ...rest]
      : [head, `${" ".repeat(indent)}${first}`, ...rest]
  })
}

/** Characters of the longest name that other lines are indented for. */
const widestName = 24

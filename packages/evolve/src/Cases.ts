/** Reads cases, and counts each different one once. */
import { refuse } from "@inspo/domain/InvalidInput"
import { parse } from "csv-parse/sync"

/** The different cases in their order, and how many repeat an earlier one. */
export interface Cases<Case> {
  readonly distinct: ReadonlyArray<Case>
  readonly repeated: number
}

/** A case that is asked twice is no new evidence, and must not be in the search and in the test. */
export const distinct = <Case>(all: Iterable<Case>): Cases<Case> => {
  const known = new Map<string, Case>()
  let count = 0
  for (const one of all) {
    count += 1
    const key = keyOf(one, count)
    if (!known.has(key)) known.set(key, one)
  }
  return { distinct: [...known.values()], repeated: count - known.size }
}

/** A case as text. A value without JSON is different from all others. */
const keyOf = (value: unknown, place: number): string => {
  try {
    return JSON.stringify(value) ?? `case ${place}`
  } catch {
    return `case ${place}`
  }
}

/** The rows of a CSV file with a head, or of a JSONL file, by its name. */
export const parseFile = (file: string, text: string): ReadonlyArray<Record<string, string>> => {
  if (/\.(jsonl|ndjson)$/iu.test(file))
    return text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [row(file, index, line)]))
  if (!/\.(csv|tsv)$/iu.test(file))
    refuse({
      where: "cases",
      field: "file",
      value: file,
      expected: "a name that ends with .csv, .tsv, .jsonl or .ndjson"
    })
  return parse(text, {
    columns: true,
    skip_empty_lines: true,
    bom: true,
    trim: true,
    delimiter: /\.tsv$/iu.test(file) ? "\t" : ","
  })
}

const row = (file: string, index: number, line: string): Record<string, string> => {
  const found = readJson(line)
  if (typeof found !== "object" || found === null || Array.isArray(found))
    return refuse({
      where: "cases",
      field: `${file}:${index + 1}`,
      value: line.slice(0, 100),
      expected: "one JSON object on each line"
    })
  return Object.fromEntries(
    Object.entries(found).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)])
  )
}

const readJson = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

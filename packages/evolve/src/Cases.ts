/** Reads the cases of a file. */
import { InvalidInput, JsonText, Utf8 } from "@inspo/domain"
import { parse } from "csv-parse/sync"
import { Result } from "effect"

/** The rows of a CSV file with a head, or of a JSONL file, by its name. A value that is no text is its JSON; null is none. */
export const parseFile = (file: string, written: string): ReadonlyArray<Record<string, string>> => {
  const text = written.replace(/^\uFEFF/u, "")
  if (/\.(jsonl|ndjson)$/iu.test(file))
    return text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [row(`${file}:${index + 1}`, line)]))
  if (!/\.(csv|tsv)$/iu.test(file))
    InvalidInput.refuse({
      where: "cases",
      field: "file",
      value: file,
      expected: "a name that ends with .csv, .tsv, .jsonl or .ndjson"
    })
  return parse(text, {
    columns: (names: ReadonlyArray<string>) => {
      assertDistinct(file, names)
      return [...names]
    },
    skip_empty_lines: true,
    trim: true,
    delimiter: /\.tsv$/iu.test(file) ? "\t" : ","
  })
}

/** The text of a file's bytes. */
export const decode = (file: string, bytes: Uint8Array): string => {
  const text = Utf8.decode(bytes)
  if (Result.isSuccess(text)) return text.success
  const { found, remedy } = Utf8.explain(file, text.failure)
  return InvalidInput.refuse({ where: "cases", field: file, value: found, expected: `a text in UTF-8. ${remedy}` })
}

const row = (place: string, line: string): Record<string, string> => {
  const found = JsonText.members(line)
  if (found === null)
    return InvalidInput.refuse({
      where: "cases",
      field: place,
      value: line.slice(0, 100),
      expected: "one JSON object on each line"
    })
  assertDistinct(
    place,
    found.map(([name]) => name)
  )
  return Object.fromEntries(
    found.flatMap(([name, value]) =>
      value === "null" ? [] : [[name, value.startsWith('"') ? String(JSON.parse(value)) : value]]
    )
  )
}

const assertDistinct = (field: string, names: ReadonlyArray<string>): void => {
  const repeated = names.find((name, index) => names.indexOf(name) < index)
  if (repeated !== undefined)
    InvalidInput.refuse({
      where: "cases",
      field: `column ${JSON.stringify(repeated)} of ${field}`,
      value: "there twice",
      expected: "names that differ"
    })
}

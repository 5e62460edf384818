import { Text, plural } from "@inspo/report"
import { type DatasetError, SearchR1 } from "@inspo/datasets"
import { Array as Arr, Effect, Stream } from "effect"
import { UsageError } from "../Failure.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { type Inspection, inspection } from "./Inspection.ts"

export interface InspectInput {
  readonly file: string
}

/** Shows what a question file holds, and which rows cannot be read; such rows fail the command at the end. */
export const inspect = Effect.fn("Inspect.inspect")(function* ({ file }: InspectInput) {
  const columns = yield* SearchR1.columns(file)
  const rows = yield* Stream.runCollect(SearchR1.checked(file))
  const [questions, malformed] = Arr.separate(rows)
  const found = inspection(columns, questions)
  const first = malformed.slice(0, mostShown).map(({ message }) => message)
  const document = { file, ...found, malformed: { rows: malformed.length, first } }
  yield* Reporter.print(document, (columns) => page(file, found, malformed, columns))
  if (malformed.length > 0)
    return yield* new UsageError({
      problem: `${malformed.length} of ${rows.length} rows of ${file} cannot be read; the first is ${first[0]}. Fix or remove them.`
    })
})

/** Kinds of malformed rows, and rows, that are named. */
const mostShown = 20

/** Lines that are named beside the first row of a kind. */
const mostLines = 5

/** The rows that cannot be read, a line for all that have the same fault. */
const faultLines = (malformed: ReadonlyArray<DatasetError>): ReadonlyArray<string> => {
  const kinds = [...Map.groupBy(malformed, ({ expected, field }) => `${field}: ${expected}`).values()]
  const hidden = kinds.slice(mostShown).flat().length
  return [
    ...kinds.slice(0, mostShown).map(([first, ...others]) => {
      const lines = others.flatMap(({ line }) => line ?? []).slice(0, mostLines)
      return others.length === 0
        ? `${first?.message}`
        : `${first?.message}; and ${others.length} more: line ${lines.join(", ")}${others.length > lines.length ? ", …" : ""}`
    }),
    ...(hidden > 0 ? [`and ${hidden} more`] : [])
  ]
}

const page = (
  file: string,
  found: Inspection,
  malformed: ReadonlyArray<DatasetError>,
  columns: number
): ReadonlyArray<string> => [
  `${plural(found.questions, "question")} in ${file}`,
  "",
  "sources",
  ...Object.entries(found.sources).flatMap(([source, parts]) =>
    Text.paragraph(
      `${source}: ${Object.entries(parts)
        .map(([part, count]) => `${count} ${part}`)
        .join(", ")}`,
      "  ",
      columns
    )
  ),
  "columns",
  ...Text.paragraph(found.columns.join(", "), "  ", columns),
  "words (shortest, median, longest)",
  ...(["question", "answer"] as const).map((text) => {
    const { longest, median, shortest } = found.lengths[text]
    return `  ${text}: ${shortest}, ${median}, ${longest}`
  }),
  "examples",
  ...found.examples.flatMap(({ goldenAnswers, id, question }) =>
    Text.paragraph(`${id}: ${question} ${goldenAnswers.join(" | ")}`, "  ", columns)
  ),
  "problems",
  ...(found.problems.length === 0
    ? ["  none"]
    : found.problems.flatMap(({ problem, questions }) =>
        Text.paragraph(`${questions} with ${problem}`, "  ", columns)
      )),
  ...(malformed.length === 0 ? [] : ["rows that cannot be read"]),
  ...faultLines(malformed).flatMap((line) => Text.paragraph(line, "  ", columns))
]

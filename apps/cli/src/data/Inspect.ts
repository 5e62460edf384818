import { type DatasetError, SearchR1 } from "@inspo/datasets"
import { Effect, Ref, Result, Stream } from "effect"
import { UsageError } from "../Failure.ts"
import { paragraph } from "../terminal/Text.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { type Inspection, inspection } from "./Inspection.ts"

export interface InspectInput {
  readonly file: string
  readonly json: boolean
}

/** Tells what a question file holds, and which of its rows cannot be read: those fail it at the end. */
export const inspect = Effect.fn("Inspect.inspect")(function* ({ file, json }: InspectInput) {
  const columns = yield* SearchR1.columns(file)
  const malformed = yield* Ref.make<Malformed>({ rows: 0, first: [], kinds: new Map() })
  const questions = yield* SearchR1.checked(file).pipe(
    Stream.mapEffect((row) =>
      Result.isSuccess(row) ? Effect.succeed([row.success]) : Effect.as(Ref.update(malformed, andOne(row.failure)), [])
    ),
    Stream.flattenIterable,
    Stream.runCollect
  )
  const found = inspection(columns, questions)
  const unread = yield* Ref.get(malformed)
  const document = { file, ...found, malformed: { rows: unread.rows, first: unread.first } }
  yield* Reporter.print(json, document, (columns) => page(file, found, unread, columns))
  if (unread.rows > 0)
    return yield* new UsageError({
      problem:
        `${unread.rows} of ${questions.length + unread.rows} rows of ${file} cannot be read; the first is ` +
        `${unread.first[0]}. Mend or remove them.`
    })
})

/** The rows that cannot be read, and what is wrong with the first of them. */
interface Malformed {
  readonly rows: number
  readonly first: ReadonlyArray<string>
  /** What is expected of how many rows, with the first of them. */
  readonly kinds: ReadonlyMap<
    string,
    { readonly rows: number; readonly first: string; readonly lines: ReadonlyArray<number> }
  >
}

const mostShown = 20

/** Lines that are named beside the first row of a kind. */
const mostLines = 5

const andOne =
  ({ expected, field, line, message }: DatasetError) =>
  ({ first, kinds, rows }: Malformed): Malformed => {
    const kind = `${field}: ${expected}`
    const { first: same = message, lines = [], rows: before = 0 } = kinds.get(kind) ?? {}
    const known = kinds.has(kind) || kinds.size < mostShown
    return {
      rows: rows + 1,
      first: rows < mostShown ? [...first, message] : first,
      kinds: known
        ? new Map(kinds).set(kind, {
            rows: before + 1,
            first: same,
            lines: before > 0 && line !== null && lines.length < mostLines ? [...lines, line] : lines
          })
        : kinds
    }
  }

/** A kind of fault by its first row, and where else it is. */
const kindLine = ({
  first,
  lines,
  rows
}: {
  readonly rows: number
  readonly first: string
  readonly lines: ReadonlyArray<number>
}) =>
  rows === 1
    ? first
    : `${first}; and so ${rows - 1} more: line ${lines.join(", ")}${rows - 1 > lines.length ? ", …" : ""}`

const told = ({ kinds }: Malformed): number => [...kinds.values()].reduce((sum, { rows }) => sum + rows, 0)

const page = (file: string, found: Inspection, malformed: Malformed, columns: number): ReadonlyArray<string> => [
  `${found.questions} questions in ${file}`,
  "",
  "sources",
  ...Object.entries(found.sources).flatMap(([source, parts]) =>
    paragraph(
      `${source}: ${Object.entries(parts)
        .map(([part, count]) => `${count} ${part}`)
        .join(", ")}`,
      "  ",
      columns
    )
  ),
  "columns",
  ...paragraph(found.columns.join(", "), "  ", columns),
  "words (shortest, median, longest)",
  ...(["question", "answer"] as const).map((text) => {
    const { longest, median, shortest } = found.lengths[text]
    return `  ${text}: ${shortest}, ${median}, ${longest}`
  }),
  "examples",
  ...found.examples.flatMap(({ goldenAnswers, id, question }) =>
    paragraph(`${id}: ${question} ${goldenAnswers.join(" | ")}`, "  ", columns)
  ),
  "problems",
  ...(found.problems.length === 0
    ? ["  none"]
    : found.problems.flatMap(({ problem, questions }) => paragraph(`${questions} with ${problem}`, "  ", columns))),
  ...(malformed.rows === 0
    ? []
    : [
        "rows that cannot be read",
        ...[...malformed.kinds.values()].flatMap((kind) => paragraph(kindLine(kind), "  ", columns)),
        ...(malformed.rows > told(malformed) ? [`  and ${malformed.rows - told(malformed)} more`] : [])
      ])
]

import { Text, plural } from "@inspo/report"
import { type DatasetError, SearchR1 } from "@inspo/datasets"
import { Array as Arr, Effect, Stream } from "effect"
import { usageError } from "../Failure.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { sumAll } from "effect/Number"
import { ExactMatch } from "@inspo/reward"
import { quantileSorted } from "simple-statistics"

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
    return yield* usageError(
      `${malformed.length} of ${rows.length} rows of ${file} cannot be read; the first is ${first[0]}. Fix or remove them.`
    )
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

/** What a question file holds. Lengths are in words. */
interface Inspection {
  readonly questions: number
  readonly columns: ReadonlyArray<string>
  readonly sources: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly lengths: { readonly question: Lengths; readonly answer: Lengths }
  readonly examples: ReadonlyArray<Pick<SearchR1.FileQuestion, "id" | "question" | "goldenAnswers">>
  /** What is unusual, with how many questions it concerns. */
  readonly problems: ReadonlyArray<{ readonly problem: string; readonly questions: number }>
}

interface Lengths {
  readonly shortest: number
  readonly median: number
  readonly longest: number
}

/** The part of questions whose rows name none. */
const noPart = "unnamed"

const inspection = (columns: ReadonlyArray<string>, questions: ReadonlyArray<SearchR1.FileQuestion>): Inspection => {
  const texts = Map.groupBy(questions, ({ question }) => question.trim())
  const repeated = [...texts.values()].filter(({ length }) => length > 1)
  const across = repeated.filter((equal) => new Set(equal.map(({ split }) => split)).size > 1)
  const problems = [
    { problem: "the same text as an earlier question", questions: sumAll(repeated.map(({ length }) => length - 1)) },
    { problem: "the same text in more than one part", questions: sumAll(across.map(({ length }) => length)) },
    {
      problem: "no golden answer that a response could match: nothing but articles and punctuation",
      questions: questions.filter(({ goldenAnswers }) =>
        goldenAnswers.every((text) => ExactMatch.normalizeAnswer(text) === "")
      ).length
    }
  ]
  return {
    questions: questions.length,
    columns,
    sources: Object.fromEntries(
      [...Map.groupBy(questions, ({ dataSource }) => dataSource)].map(([source, members]) => [
        source,
        Object.fromEntries(
          [...Map.groupBy(members, ({ split }) => split ?? noPart)].map(([part, { length }]) => [part, length])
        )
      ])
    ),
    lengths: {
      question: lengths(questions.map(({ question }) => question)),
      answer: lengths(questions.flatMap(({ goldenAnswers }) => goldenAnswers))
    },
    examples: questions.slice(0, 3).map(({ goldenAnswers, id, question }) => ({ id, question, goldenAnswers })),
    problems: problems.filter((found) => found.questions > 0)
  }
}

const lengths = (texts: ReadonlyArray<string>): Lengths => {
  const sorted = texts.map((text) => text.split(/\s+/u).filter((word) => word !== "").length).sort((a, b) => a - b)
  const [shortest] = sorted
  return shortest === undefined
    ? { shortest: 0, median: 0, longest: 0 }
    : { shortest, median: quantileSorted(sorted, 0.5), longest: sorted.at(-1) ?? shortest }
}

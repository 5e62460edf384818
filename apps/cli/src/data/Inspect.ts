import { SearchR1 } from "@inspo/datasets"
import { Console, Effect } from "effect"
import { paragraph } from "../terminal/Text.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { type Inspection, inspection } from "./Inspection.ts"

export interface InspectInput {
  readonly file: string
  readonly json: boolean
}

/** Tells what a question file holds; a row that cannot be read ends it. */
export const inspect = Effect.fn("Inspect.inspect")(function* ({ file, json }: InspectInput) {
  const columns = yield* SearchR1.columns(file)
  const found = inspection(columns, yield* SearchR1.readQuestions(file))
  if (json) return yield* Console.log(JSON.stringify({ file, ...found }))
  const reporter = yield* Reporter.make("normal")
  return yield* reporter.lines(page(file, found, reporter.columns))
})

const page = (file: string, found: Inspection, columns: number): ReadonlyArray<string> => [
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
    : found.problems.flatMap(({ problem, questions }) => paragraph(`${questions} with ${problem}`, "  ", columns)))
]

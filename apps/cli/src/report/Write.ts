import { Console, Effect, Option } from "effect"
import { commandFailure } from "../Failure.ts"
import { programName } from "../Program.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { htmlReport } from "./HtmlReport.ts"
import { markdownReport } from "./MarkdownReport.ts"

export interface ReportInput {
  readonly directory: string
  readonly out: Option.Option<string>
  readonly format: "html" | "md"
}

/** Writes the report of a run, beside the run or where the user says; `-` is standard output. */
export const report = Effect.fn("Write.report")(function* (input: ReportInput) {
  const { directory, format } = input
  const program = yield* programName
  const text = format === "html" ? yield* htmlReport(directory, program) : yield* markdownReport(directory, program)
  const file = Option.getOrElse(input.out, () => `${directory}/report.${format}`)
  if (file === "-") return yield* Console.log(text)
  yield* replaceFile(file, text).pipe(
    Effect.mapError((cause) => commandFailure(`${cause.problem} Or name another with --out FILE.`, cause))
  )
  return yield* Reporter.print({ report: file, bytes: Buffer.byteLength(text) }, () => [`Report: ${file}`])
})

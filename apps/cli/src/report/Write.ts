import { MarkdownReport, RunRecord } from "@inspo/dashboard"
import { Console, Effect, Option } from "effect"
import { CommandFailure } from "../Failure.ts"
import { programName } from "../run/ProgramName.ts"
import { readResult } from "../runDirectory/Outcome.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { htmlReport } from "./HtmlReport.ts"
import * as RunReport from "./RunReport.ts"

export interface ReportInput {
  readonly directory: string
  readonly out: Option.Option<string>
  readonly format: "html" | "md"
  readonly json: boolean
}

/** Writes the report of a run, beside the run or where the user says; `-` is standard output. */
export const report = Effect.fn("Write.report")(function* (input: ReportInput) {
  const { directory, format, json } = input
  const program = yield* programName
  const text = format === "html" ? yield* htmlReport(directory, program) : yield* markdownReport(directory, program)
  const file = Option.getOrElse(input.out, () => `${directory}/report.${format}`)
  if (file === "-") return yield* Console.log(text)
  yield* replaceFile(file, text).pipe(
    Effect.mapError(
      (cause) => new CommandFailure({ problem: `${cause.problem} Or name another with --out FILE.`, cause })
    )
  )
  return yield* Reporter.print(json, { report: file, bytes: Buffer.byteLength(text) }, () => [`Report: ${file}`])
})

/** The report of a finished run as Markdown, with its reward curve and the changes that led to its best instruction. */
const markdownReport = Effect.fnUntraced(function* (directory: string, program: string) {
  const { config, events, outcome, state, summary } = yield* readResult(directory)
  if (summary === null)
    return yield* new CommandFailure({
      problem:
        `The run in ${directory} is not finished: it is after step ${state.step} of ${config.schedule.steps}. ` +
        `Continue it with \`${program} resume ${directory}\`, or use --report html for an unfinished run.`
    })
  const record = RunRecord.observe(RunRecord.empty(config), events)
  const { instructions } = state
  return [
    RunReport.markdown({ summary, config, instructions, unknownWords: outcome.unknownWords, program }),
    ...MarkdownReport.compared(record),
    ...MarkdownReport.progress(record),
    ...MarkdownReport.lineageOfBest(record)
  ].join("\n")
})

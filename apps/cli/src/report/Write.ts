import { MarkdownReport, RunRecord } from "@inspo/dashboard"
import { foldStored } from "@inspo/coevolution"
import { Console, Effect, Option } from "effect"
import { CommandFailure } from "../Failure.ts"
import { programName } from "../run/ProgramName.ts"
import { readOutcome } from "../runDirectory/Outcome.ts"
import { readRun } from "../runDirectory/Read.ts"
import { wallSeconds } from "../runDirectory/Timings.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import { htmlReport } from "./HtmlReport.ts"
import * as RunReport from "./RunReport.ts"
import { summarize } from "./Summary.ts"

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
  return yield* Console.log(json ? JSON.stringify({ report: file, bytes: Buffer.byteLength(text) }) : `Report: ${file}`)
})

/** The report of a finished run as Markdown, with its course and the changes that led to its best instruction. */
const markdownReport = Effect.fnUntraced(function* (directory: string, program: string) {
  const { config, events } = yield* readRun(directory)
  const state = yield* foldStored({ algorithm: config }, events)
  const outcome = yield* readOutcome(directory)
  const summary = summarize({
    runDir: directory,
    config,
    state,
    outcome,
    wallSeconds: yield* wallSeconds(directory)
  })
  if (summary === null)
    return yield* new CommandFailure({
      problem:
        `The run in ${directory} is not finished: it stands after step ${state.step} of ${config.schedule.steps}. ` +
        `Continue it with \`${program} resume ${directory}\`, or write --report html to see how far it is.`
    })
  const record = RunRecord.observe(RunRecord.empty(config), events)
  const { instructions } = state
  return [
    RunReport.markdown({ summary, config, instructions, unknownWords: outcome.unknownWords, program }),
    ...MarkdownReport.progress(record),
    ...MarkdownReport.lineageOfBest(record)
  ].join("\n")
})

import { MarkdownReport, Run, RunRecord, overview } from "@inspo/dashboard"
import { Effect, Path } from "effect"
import { commandFailure } from "../Failure.ts"
import { readResult, runNotes } from "../runDirectory/Outcome.ts"
import { dayOf } from "./HtmlReport.ts"
import * as RunReport from "./RunReport.ts"

/** The report of the finished run in a directory as Markdown. `program` is how the program is called. */
export const markdownReport = Effect.fn("MarkdownReport.markdownReport")(function* (
  directory: string,
  program: string
) {
  const path = yield* Path.Path
  const { config, events, state, summary } = yield* readResult(directory)
  if (summary === null)
    return yield* commandFailure(
      `The run in ${directory} is not finished: it is after step ${state.step} of ${config.schedule.steps}. ` +
        `Continue it with \`${program} resume ${directory}\`, or use --report html for an unfinished run.`
    )
  const name = path.basename(path.resolve(directory))
  const record = RunRecord.observe(RunRecord.empty(config), events)
  const view = overview(Run.run({ id: name, name }, record, Run.unwritten, 0), record, yield* runNotes(directory))
  return RunReport.markdown(
    { summary, config, instructions: state.instructions, program },
    {
      head: MarkdownReport.head({ name, date: yield* dayOf(directory), record, view }),
      changed: MarkdownReport.changed(record, view),
      best: MarkdownReport.best(view),
      compared: MarkdownReport.compared(record),
      progress: MarkdownReport.progress(record),
      lineage: MarkdownReport.lineageOfBest(record)
    }
  )
})

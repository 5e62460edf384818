import { Report, RunRecord } from "@inspo/dashboard"
import { DateTime, Effect, FileSystem, Option, Path } from "effect"
import { runNotes } from "../runDirectory/Outcome.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { readLedger, readRun } from "../runDirectory/Read.ts"

/** The report of a run directory as one self-contained HTML document. `program` is how the program is called. */
export const htmlReport = Effect.fn("HtmlReport.htmlReport")(function* (directory: string, program: string) {
  const path = yield* Path.Path
  const { begun, config, events } = yield* readRun(directory)
  return Report.html({
    name: path.basename(path.resolve(directory)),
    record: RunRecord.observe(RunRecord.empty(config), events),
    ledger: begun ? yield* readLedger(directory, config) : [],
    notes: yield* runNotes(directory),
    date: yield* dayOf(directory),
    commands: [`${program} run ${directory}/config.json --out ${directory}-again`, `${program} dashboard ${directory}`]
  })
})

/** The day of the last change of what a run measured. */
export const dayOf = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const files = filesOf(directory)
  const stats = yield* fs.stat(files.metrics).pipe(
    Effect.catch(() => fs.stat(files.config)),
    Effect.option
  )
  return Option.match(
    Option.flatMap(stats, ({ mtime }) => mtime),
    {
      onNone: () => null,
      onSome: (time) => DateTime.formatIsoDateUtc(DateTime.fromDateUnsafe(time))
    }
  )
})

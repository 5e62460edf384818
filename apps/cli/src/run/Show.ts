import { foldStored } from "@inspo/coevolution"
import * as Ledger from "@inspo/ledger/Ledger"
import { Console, Effect, Schema, Struct } from "effect"
import { costLines } from "../report/CostReport.ts"
import * as RunReport from "../report/RunReport.ts"
import { degraded, Summary, summarize } from "../report/Summary.ts"
import * as Lost from "../runDirectory/Lost.ts"
import { readOutcome } from "../runDirectory/Outcome.ts"
import { readLedger, readRun } from "../runDirectory/Read.ts"
import { wallSeconds } from "../runDirectory/Timings.ts"
import { announceAll } from "../terminal/Announcement.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { paragraph } from "../terminal/Text.ts"
import { programName } from "./ProgramName.ts"

/** Tells what happened in a run and what it cost: the report of a finished one, else where it stands. */
export const show = Effect.fn("Show.show")(function* (input: { readonly directory: string; readonly json: boolean }) {
  const { directory } = input
  const told = yield* Lost.listen(directory)
  const { begun, config, events } = yield* readRun(directory)
  const totals = begun ? yield* readLedger(directory, config) : []
  const lost = yield* Lost.find(directory, told, events, totals)
  if (lost !== null) yield* Console.error(`Note: ${Lost.refusal(directory, lost).problem}`)
  const state = yield* foldStored({ algorithm: config }, events)
  const outcome = yield* readOutcome(directory)
  const ledger = Ledger.summarize(totals)
  const summary = summarize({
    runDir: directory,
    config,
    state,
    outcome,
    wallSeconds: yield* wallSeconds(directory)
  })
  if (input.json)
    return yield* Console.log(
      summary === null
        ? encodeUnfinished({
            runDir: directory,
            randomSeed: config.randomSeed,
            steps: state.step,
            rollouts: state.spent.rollouts,
            ledger,
            ...degraded(state, outcome.degraded),
            finished: false
          })
        : encodeFinished({ ...summary, ledger })
    )

  const program = yield* programName
  const reporter = yield* Reporter.make("normal")
  const cost = costLines(ledger)
  yield* reporter.lines(announceAll(events, reporter.columns))
  return yield* reporter.lines(
    summary === null
      ? [
          ...paragraph(`The run stands after step ${state.step} of ${config.schedule.steps}.`, "", reporter.columns),
          ...RunReport.ownStrategies(config, state.strategies).flatMap((line) => paragraph(line, "", reporter.columns)),
          ...RunReport.degraded(degraded(state, outcome.degraded).degradations).flatMap((line) =>
            paragraph(line, "", reporter.columns)
          ),
          `Continue with: ${program} resume ${directory}`,
          ...(cost.length === 0 ? [] : ["", ...cost])
        ]
      : [
          ...(cost.length === 0 ? [] : ["", ...cost]),
          ...RunReport.text(
            { summary, config, instructions: state.instructions, unknownWords: outcome.unknownWords, program },
            reporter.columns
          )
        ]
  )
})

/** What `show --json` prints of a finished run: the document of the run itself, and its ledger. */
const encodeFinished = Schema.encodeSync(
  Schema.fromJsonString(Schema.Struct({ ...Summary.fields, ledger: Ledger.Summary }))
)

const encodeUnfinished = Schema.encodeSync(
  Schema.fromJsonString(
    Schema.Struct({
      ...Struct.pick(Summary.fields, ["runDir", "randomSeed", "steps", "rollouts"]),
      ledger: Ledger.Summary,
      ...Struct.pick(Summary.fields, ["degraded", "degradations"]),
      finished: Schema.Literal(false)
    })
  )
)

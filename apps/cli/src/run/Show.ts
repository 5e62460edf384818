import { fold, makeSetting } from "@inspo/coevolution"
import { Console, Effect } from "effect"
import { loadData } from "../config/Data.ts"
import * as RunReport from "../report/RunReport.ts"
import { encodeJson, summarize } from "../report/Summary.ts"
import { readOutcome } from "../runDirectory/Outcome.ts"
import { readRun } from "../runDirectory/Read.ts"
import { wallSeconds } from "../runDirectory/Timings.ts"
import { announce } from "../terminal/Announcement.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { paragraph } from "../terminal/Text.ts"
import { programName } from "./ProgramName.ts"

/** Tells what happened in a run: the report of a finished one, else where it stands. */
export const show = Effect.fn("Show.show")(function* (input: { readonly directory: string; readonly json: boolean }) {
  const { directory } = input
  const { config, events } = yield* readRun(directory)
  const { data } = yield* loadData(config)
  const state = fold(makeSetting(config, data), events)
  const outcome = yield* readOutcome(directory)
  const summary = summarize({
    runDir: directory,
    config,
    state,
    baseline: outcome.baseline,
    wallSeconds: yield* wallSeconds(directory)
  })
  const program = yield* programName
  const reporter = yield* Reporter.make(input.json ? "json" : "normal")

  if (summary === null) {
    const unfinished = { runDir: directory, seed: config.seed, steps: state.step, rollouts: state.spent.rollouts }
    if (input.json) return yield* Console.log(JSON.stringify({ ...unfinished, finished: false }))
    return yield* reporter.lines([
      ...events.flatMap((event) => announce(event, null, reporter.columns)),
      ...paragraph(`The run stands after step ${state.step} of ${config.schedule.steps}.`, "", reporter.columns),
      `Continue with: ${program} resume ${directory}`
    ])
  }
  if (input.json) return yield* Console.log(encodeJson(summary))
  const report = { summary, config, instructions: state.instructions, unknownWords: outcome.unknownWords, program }
  return yield* reporter.lines([
    ...events.flatMap((event) => announce(event, null, reporter.columns)),
    ...RunReport.text(report, reporter.columns)
  ])
})

import type { RunConfig } from "@inspo/coevolution"
import { Clock, Effect, FileSystem } from "effect"
import { codeHash } from "../config/CodeHash.ts"
import { loadData } from "../config/Data.ts"
import { CommandFailure } from "../Failure.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { readOutcome } from "../runDirectory/Outcome.ts"
import { readRun } from "../runDirectory/Read.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { complete } from "./Complete.ts"
import { show } from "./Show.ts"

export interface ResumeInput {
  readonly directory: string
  readonly baseline: boolean
  readonly json: boolean
  readonly quiet: boolean
}

/** Continues a run from its last committed event. One that is finished only tells its result again. */
export const resume = Effect.fn("Resume.resume")(function* (input: ResumeInput) {
  const launchedAt = yield* Clock.currentTimeMillis
  const { config, events } = yield* readRun(input.directory)
  if (yield* isReported(input, config)) return yield* show(input)
  const begun = events.find((event) => event._tag === "RunStarted")
  const loaded = yield* loadData(config)
  const code = yield* codeHash()
  const reporter = yield* Reporter.make(input.quiet ? "quiet" : input.json ? "json" : "normal")
  if (begun !== undefined && begun.code !== code)
    yield* reporter.lines([
      "Note: the program changed since this run began, so the rest may differ from an undisturbed run."
    ])
  if (begun !== undefined && begun.data !== loaded.data.fingerprint)
    return yield* new CommandFailure({
      problem: `The data of the run in ${input.directory} have changed since it began. Restore the files named in its config.json.`
    })
  const steps = events.filter(({ _tag }) => _tag === "StepTrained").length
  return yield* complete({
    directory: input.directory,
    mode: "open",
    config,
    loaded,
    code,
    launchedAt,
    withBaseline: input.baseline,
    json: input.json,
    reporter,
    introduce: () => [`Continuing ${input.directory} after step ${steps} of ${config.schedule.steps}`],
    abandon: Effect.void
  })
})

/** Whether nothing is left to do but to tell the result once more. */
const isReported = Effect.fnUntraced(function* ({ baseline, directory }: ResumeInput, config: RunConfig) {
  const fs = yield* FileSystem.FileSystem
  const outcome = yield* readOutcome(directory)
  const compared = !baseline || config.evaluation.questions === 0 || outcome.baseline !== null
  return compared && (yield* fs.exists(filesOf(directory).report))
})

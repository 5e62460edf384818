import type { RunConfig } from "@inspo/coevolution"
import { Clock, Effect, FileSystem, Result } from "effect"
import { codeHash } from "../config/CodeHash.ts"
import { loadData } from "../config/Data.ts"
import { orUsage } from "../config/Input.ts"
import { parseSet, resolve } from "../config/Resolve.ts"
import { CommandFailure, UsageError } from "../Failure.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { readOutcome } from "../runDirectory/Outcome.ts"
import { readRun } from "../runDirectory/Read.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import * as Reporter from "../terminal/Reporter.ts"
import * as Trackers from "../tracking/Trackers.ts"
import { isCompared } from "./Baseline.ts"
import { complete } from "./Complete.ts"
import { encodeConfig } from "./Ensure.ts"
import { show } from "./Show.ts"

export interface ResumeInput extends Trackers.TrackingInput {
  readonly directory: string
  readonly baseline: boolean
  readonly set: ReadonlyArray<string>
  readonly json: boolean
  readonly quiet: boolean
}

/** Continues a run from its last committed event. One that is finished only tells its result again. */
export const resume = Effect.fn("Resume.resume")(function* (input: ResumeInput) {
  const launchedAt = yield* Clock.currentTimeMillis
  const tracking = yield* Trackers.fromInput(input)
  const { begun: hasJournal, config: recorded, events } = yield* readRun(input.directory)
  if (yield* isReported(input, recorded)) return yield* show(input)
  const config = yield* withBudget(recorded, input)
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
    mode: hasJournal ? "open" : "create",
    config,
    loaded,
    code,
    launchedAt,
    withBaseline: input.baseline && isCompared(config),
    json: input.json,
    tracking,
    reporter,
    introduce: () => [`Continuing ${input.directory} after step ${steps} of ${config.schedule.steps}`],
    abandon: Effect.void
  })
})

/** The config with the limits that the command line asks for; all else decides results and stays. */
const withBudget = Effect.fnUntraced(function* (config: RunConfig, { directory, set }: ResumeInput) {
  if (set.length === 0) return config
  const overrides = yield* orUsage(Result.all(set.map(parseSet)))
  const other = overrides.flatMap((override) => Object.keys(override)).find((key) => key !== "budget")
  if (other !== undefined)
    return yield* new UsageError({
      problem: `--set names ${other}, expected budget.usd, .rollouts, .tokens or .minutes: what else a run is asked to do stays as it began. Use \`fork\` to change it.`
    })
  const raised = yield* orUsage(resolve(config, overrides))
  yield* replaceFile(filesOf(directory).config, `${yield* encodeConfig(raised)}\n`)
  return raised
})

/** Whether nothing is left to do but to tell the result once more. */
const isReported = Effect.fnUntraced(function* ({ baseline, directory }: ResumeInput, config: RunConfig) {
  const fs = yield* FileSystem.FileSystem
  const outcome = yield* readOutcome(directory)
  const compared = !baseline || config.evaluation.questions === 0 || outcome.baseline !== null
  return compared && (yield* fs.exists(filesOf(directory).report))
})

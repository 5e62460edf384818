import { AlgorithmDiff } from "@inspo/coevolution"
import { type RunConfig, algorithmOf, deploymentOf } from "@inspo/config"
import { Clock, Effect, FileSystem, type Option, Result } from "effect"
import { codeHash } from "../config/CodeHash.ts"
import { loadData } from "../config/Data.ts"
import { laid, orUsage, withBaseline } from "../config/Input.ts"
import { leafPaths, parseSet } from "../config/Resolve.ts"
import { commandFailure, usageError } from "../Failure.ts"
import * as Preflight from "../preflight/Preflight.ts"
import { readConfig, writeConfig } from "../runDirectory/ConfigFile.ts"
import { filesOf } from "../runDirectory/Files.ts"
import * as MissingTail from "../runDirectory/MissingTail.ts"
import { readOutcome } from "../runDirectory/Outcome.ts"
import { readEvents, readLedger } from "../runDirectory/Read.ts"
import * as Trust from "../runDirectory/Trust.ts"
import * as Reporter from "../terminal/Reporter.ts"
import * as Trackers from "../tracking/Trackers.ts"
import { isCompared } from "./Baseline.ts"
import { executeAndReport } from "./Start.ts"
import { show } from "./Show.ts"

export interface ResumeInput extends Trackers.TrackingInput {
  readonly directory: string
  readonly baseline: Option.Option<boolean>
  readonly set: ReadonlyArray<string>
  /** Whether to repeat the work that the journal has lost. */
  readonly acceptLost: boolean
  readonly quiet: boolean
}

/** Continues a run from its last committed event. A finished run only shows its result again. */
export const resume = Effect.fn("Resume.resume")(function* (input: ResumeInput) {
  const launchedAt = yield* Clock.currentTimeMillis
  const trackers = yield* Trackers.fromInput(input)
  const before = yield* readConfig(input.directory)
  const config = yield* withSettings(before, input)
  yield* Trust.ensureChanged(input.directory, { before, after: config, use: "run" })
  const noted = yield* MissingTail.listen(input.directory)
  const { begun: hasJournal, events } = yield* readEvents(input.directory, config)
  const ledger = hasJournal ? yield* readLedger(input.directory, config) : []
  const lost = yield* MissingTail.find(input.directory, noted, events, ledger)
  if (lost !== null && !input.acceptLost) return yield* MissingTail.refusal(input.directory, lost)
  if (lost === null && (yield* isReported(input.directory, config))) return yield* show(input.directory)
  const begun = events.find((event) => event._tag === "RunStarted")
  const loaded = yield* loadData(config)
  const notes = yield* Preflight.assertReady(yield* Preflight.look(config))
  const code = yield* codeHash()
  const reporter = yield* Reporter.make(input)
  if (lost !== null)
    yield* reporter.lines([`Note: the end of the journal is lost; what follows step ${lost.step} is done again.`])
  if (begun !== undefined && begun.code !== code)
    yield* reporter.lines([
      "Note: the program changed since this run began, so the rest may differ from an uninterrupted run."
    ])
  if (begun !== undefined && begun.data !== loaded.data.fingerprint)
    return yield* commandFailure(
      `The data of the run in ${input.directory} have changed since it began. Restore the files named in its config.json.`
    )
  yield* writeConfig(input.directory, config)
  yield* reporter.lines(notes)
  const steps = events.filter(({ _tag }) => _tag === "StepTrained").length
  return yield* executeAndReport({
    directory: input.directory,
    mode: hasJournal ? "open" : "create",
    config,
    loaded,
    code,
    launchedAt,
    lost,
    trackers,
    reporter,
    introduce: () => [`Continuing ${input.directory} after step ${steps} of ${config.schedule.steps}`],
    abandon: Effect.void
  }).pipe(Effect.tapErrorTag("RunMismatch", () => writeConfig(input.directory, before)))
})

/** The config with the settings of the command line, which must not affect results. */
const withSettings = Effect.fnUntraced(function* (config: RunConfig, input: ResumeInput) {
  const overrides = [...(yield* orUsage(Result.all(input.set.map(parseSet)))), ...withBaseline(input)]
  const changed = yield* laid(config, overrides)
  const [other] = AlgorithmDiff.of(algorithmOf(config), algorithmOf(changed))
  if (other !== undefined)
    return yield* usageError(
      `--set: ${AlgorithmDiff.describe(other)}, and it affects results; expected one of ` +
        `${leafPaths(deploymentOf(config)).join(", ")}. Start a run to measure another setting.`
    )
  return changed
})

/** Whether nothing is left to do but to show the result again. */
const isReported = Effect.fnUntraced(function* (directory: string, config: RunConfig) {
  const fs = yield* FileSystem.FileSystem
  const outcome = yield* readOutcome(directory)
  const compared = !isCompared(config) || outcome.baseline !== null
  return compared && (yield* fs.exists(filesOf(directory).report))
})

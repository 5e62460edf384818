import { Degradation, type RunEvent, type RunState } from "@inspo/coevolution"
import type { EngineProfile } from "@inspo/engine"
import { Cause, Clock, Console, Effect, Option, Ref } from "effect"
import { commandFailure } from "../Failure.ts"
import { programName } from "../Program.ts"
import { JsonFlag } from "../commands/handler.ts"
import { codeHash } from "../config/CodeHash.ts"
import { loadData } from "../config/Data.ts"
import { fromInput, type Input } from "../config/Input.ts"
import { beside } from "../dashboard/Beside.ts"
import * as Preflight from "../preflight/Preflight.ts"
import { introduction } from "../report/Introduction.ts"
import * as RunReport from "../report/RunReport.ts"
import { encodeJson, summarize } from "../report/Summary.ts"
import { claim, claimNumbered } from "../runDirectory/Claim.ts"
import { writeConfig } from "../runDirectory/ConfigFile.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { readOutcome, writeOutcome } from "../runDirectory/Outcome.ts"
import { appendTiming, timing, wallSeconds } from "../runDirectory/Timings.ts"
import * as Trust from "../runDirectory/Trust.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import * as Reporter from "../terminal/Reporter.ts"
import type { FollowOptions } from "../tracking/Follow.ts"
import * as Telemetry from "../tracking/Telemetry.ts"
import * as Trackers from "../tracking/Trackers.ts"
import { baseline, isCompared } from "./Baseline.ts"
import { execute, type ExecuteOptions } from "./Execute.ts"
import { watch } from "./Watch.ts"

export interface StartInput extends Input, Trackers.TrackingInput {
  readonly out: Option.Option<string>
  readonly dashboard: boolean
  readonly quiet: boolean
}

/** Starts a new run in its own directory, which is created only after the config, the data and the servers that they name were checked. */
export const start = Effect.fn("Start.start")(function* (input: StartInput) {
  const launchedAt = yield* Clock.currentTimeMillis
  const config = yield* fromInput(input)
  const trackers = yield* Trackers.fromInput(input)
  const loaded = yield* loadData(config)
  const notes = yield* Preflight.assertReady(yield* Preflight.look(config))
  const code = yield* codeHash()
  const name = [
    input.preset,
    ...(input.method === undefined || input.method === "inspo" ? [] : [input.method]),
    ...(input.ablate ?? []).map((part) => `without-${part}`)
  ].join("-")
  const reporter = yield* Reporter.make(input)
  yield* reporter.lines(notes)
  const { directory, discard } = yield* Option.match(input.out, {
    onNone: () => claimNumbered("runs", `${name}-seed${config.randomSeed}`),
    onSome: (out) => claim(out)
  })
  yield* Trust.remember(directory, config)
  yield* writeConfig(directory, config)
  if (input.dashboard) yield* beside(directory, reporter)
  yield* executeAndReport({
    directory,
    mode: "create",
    config,
    loaded,
    code,
    launchedAt,
    lost: null,
    trackers,
    reporter,
    introduce: (profile) => introduction({ directory, config, loaded, profile }, reporter.columns),
    abandon: discard
  })
}, Effect.scoped)

export interface ExecuteAndReportOptions extends Pick<
  ExecuteOptions,
  "code" | "config" | "directory" | "launchedAt" | "loaded" | "lost" | "mode"
> {
  readonly trackers: ReadonlyArray<Trackers.Tracker>
  readonly reporter: Reporter.Reporter
  /** What the run will do, in lines. */
  readonly introduce: (profile: EngineProfile, past: ReadonlyArray<RunEvent>) => ReadonlyArray<string>
  /** Done when the run stops before anything was committed. */
  readonly abandon: Effect.Effect<void>
}

/** Executes a run to its end: trains, evaluates, compares with the static arm and reports. */
export const executeAndReport = Effect.fn("Start.executeAndReport")(function* (options: ExecuteAndReportOptions) {
  const { config, directory, reporter } = options
  const program = yield* programName
  const begun = yield* Ref.make(options.mode === "open")
  const beside = yield* Ref.make<ReadonlyArray<Degradation.Degradation>>([])
  const note = (facts: ReadonlyArray<Degradation.Degradation>) =>
    Ref.update(beside, (known) => Degradation.merge(known, facts))

  const settle = (whenSaved: ReadonlyArray<string>) =>
    Effect.flatMap(Ref.get(begun), (saved) => (saved ? reporter.lines(whenSaved) : options.abandon))
  return yield* Effect.gen(function* () {
    const result = yield* execute({
      ...options,
      follow: Effect.fnUntraced(function* (profile, past) {
        yield* reporter.lines(options.introduce(profile, past))
        const onEvent = yield* watch(reporter, config, past)
        const track = yield* tracked({ ...options, past, note })
        return Effect.fnUntraced(function* (event, state) {
          yield* Ref.set(begun, true)
          yield* onEvent(event, state)
          yield* track(event, state)
        })
      })
    })
    const before = yield* readOutcome(directory)
    // What kept an earlier session from a baseline is found again, or is over.
    const known = before.degraded.filter(({ part }) => before.baseline !== null || part !== "baseline")
    const outcome = {
      baseline:
        isCompared(config) && before.baseline === null
          ? yield* baseline({ ...options, ...result, note })
          : before.baseline,
      degraded: Degradation.merge(known, yield* Ref.get(beside))
    }
    yield* writeOutcome(directory, outcome)
    const summary = summarize({
      runDir: directory,
      config,
      state: result.state,
      outcome,
      wallSeconds: yield* elapsed(options, result.state)
    })
    if (summary === null) return yield* commandFailure(`The run in ${directory} ended without a result.`)
    const report: RunReport.RunReport = {
      summary,
      config,
      instructions: result.state.instructions,
      program
    }
    const files = filesOf(directory)
    yield* replaceFile(files.bestInstruction, `${summary.bestInstruction.text}\n`)
    const { htmlReport } = yield* Effect.promise(() => import("../report/HtmlReport.ts"))
    const { markdownReport } = yield* Effect.promise(() => import("../report/MarkdownReport.ts"))
    yield* replaceFile(files.htmlReport, yield* htmlReport(directory, program))
    // Last, since a run with this file counts as reported.
    yield* replaceFile(files.report, yield* markdownReport(directory, program))
    yield* reporter.lines(RunReport.text(report, reporter.columns))
    return yield* (yield* JsonFlag) ? Console.log(encodeJson(summary)) : Effect.void
  }).pipe(
    Effect.onError((cause) =>
      settle([
        "",
        ...(Cause.hasInterruptsOnly(cause) ? ["Stopped."] : []),
        `The work so far is saved. Continue with: ${program} resume ${directory}`
      ])
    )
  )
})

/** Passes events to the trackers; without trackers their code is not loaded. */
const tracked = Effect.fnUntraced(function* (options: FollowOptions) {
  if (options.trackers.length === 0 && !(yield* Telemetry.isWanted)) return () => Effect.void
  const { follow } = yield* Effect.promise(() => import("../tracking/Follow.ts"))
  return yield* follow(options)
})

const elapsed = Effect.fnUntraced(function* (
  { directory, launchedAt }: ExecuteAndReportOptions,
  { spent, step }: RunState.RunState
) {
  const seconds = ((yield* Clock.currentTimeMillis) - launchedAt) / 1000
  yield* appendTiming(directory, timing("Reported", { launchedAt, seconds, step, rollouts: spent.rollouts }))
  return yield* wallSeconds(directory)
})

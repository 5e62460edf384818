import { Projection } from "@inspo/analysis"
import { EventLog, type RunEvent, type RunState, StateHash, type Strategies, foldStored, run } from "@inspo/coevolution"
import { JudgeCost, type RunConfig, algorithmOf } from "@inspo/config"
import { Engine, type EngineProfile } from "@inspo/engine"
import { Journal } from "@inspo/journal"
import { Cause, Clock, DateTime, Effect, FileSystem, Layer, type Path, Ref, Schedule, type Scope } from "effect"
import { commandFailure, usageError } from "../Failure.ts"
import type { LoadedData } from "../config/Data.ts"
import { layerServices } from "../layers.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { layerJournal } from "../runDirectory/JournalLayer.ts"
import * as MissingTail from "../runDirectory/MissingTail.ts"
import { noted } from "../runDirectory/Spent.ts"
import { appendTiming, timing } from "../runDirectory/Timings.ts"
import { traces } from "../runDirectory/Traces.ts"
import { appender, appendFile, jsonLines, replaceFile } from "../runDirectory/Write.ts"

export interface ExecuteOptions {
  readonly directory: string
  readonly mode: "create" | "open"
  readonly config: RunConfig
  readonly loaded: LoadedData
  readonly code: string
  /** When the process began, in milliseconds since 1970. */
  readonly launchedAt: number
  /** What the journal has lost and is to be done again; null where it is complete. */
  readonly lost: MissingTail.MissingTail | null
  /** What the run is made with; what its settings name when absent. */
  readonly services?: ReturnType<typeof layerServices>
  /** Called once the engine is ready, with the events of earlier sessions; what it returns is called with every new event. */
  readonly follow: (
    profile: EngineProfile,
    past: ReadonlyArray<RunEvent>
  ) => Effect.Effect<OnEvent, never, FollowServices>
}

type FollowServices = Journal | FileSystem.FileSystem | Path.Path | Scope.Scope | Strategies.Services

/** Called with an event after it was committed, and the state it led to. */
export type OnEvent = (event: RunEvent, state: RunState.RunState) => Effect.Effect<void>

export interface ExecuteResult {
  readonly state: RunState.RunState
  readonly events: ReadonlyArray<RunEvent>
}

/**
 * Runs in a directory from the end of its journal to the end of the run, with its own engine, and keeps the files that are
 * derived from the journal up to date: metrics and timings during the run, all of them at the end. A file that cannot be
 * written ends the session, and the next session completes it. The error that ends a session is appended to errors.log.
 */
export const execute = Effect.fn("Execute.execute")(function* (options: ExecuteOptions) {
  const { config, directory, loaded, mode } = options
  yield* Effect.annotateCurrentSpan({ directory, mode, seed: config.randomSeed, steps: config.schedule.steps })
  const files = filesOf(directory)
  const services = yield* Effect.context<FileSystem.FileSystem>()

  return yield* Effect.gen(function* () {
    const engine = yield* Engine
    const { appendMetrics, current, journal, onEvent } = yield* begin(options, engine.profile)

    const record = Effect.fnUntraced(function* (event: RunEvent, state: RunState.RunState) {
      // The other events stay in the journal: a session may be of any length.
      const { step: sampled } = yield* Ref.updateAndGet(current, (before) => Projection.sampledAfter(before, event))
      if (event._tag === "StepTrained" && sampled !== null)
        yield* appendMetrics(jsonLines([Projection.metricsRow(sampled, event.metrics, state)]))
      const seconds = ((yield* Clock.currentTimeMillis) - options.launchedAt) / 1000
      const { spent, step } = state
      yield* appendTiming(
        directory,
        timing(event._tag, { launchedAt: options.launchedAt, seconds, step, rollouts: spent.rollouts })
      )
      yield* onEvent(event, state)
    })

    const state = yield* run({
      algorithm: algorithmOf(config),
      data: loaded.data,
      budget: config.budget,
      scoringAtMost: (question) => JudgeCost.atMost(config, question),
      code: options.code,
      onEvent: (event, state) => Effect.provideContext(record(event, state), services)
    }).pipe(
      Effect.provideService(Journal, journal),
      Effect.raceFirst(stopRequested(files.stop)),
      Effect.catchTag("ConfigError", ({ message }) => Effect.fail(usageError(message)))
    )
    const all = yield* EventLog.read(journal)
    yield* replaceFile(files.metrics, jsonLines(Projection.metrics({ algorithm: config }, all)))
    yield* replaceFile(files.candidates, `${JSON.stringify(Projection.candidates(all), null, 2)}\n`)
    const questions = [...loaded.data.train, ...loaded.data.validation, ...loaded.data.test]
    yield* replaceFile(files.traces, jsonLines(yield* traces(journal, questions)))
    return { state, events: all } satisfies ExecuteResult
  }).pipe(
    Effect.tapCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : keep(files.errors, cause))),
    Effect.scoped,
    Effect.provide(
      Layer.provideMerge(
        options.services ?? layerServices(config, loaded.passages, files.checkpoints),
        layerJournal(directory, config, options.mode)
      )
    )
  )
})

/** Brings the files of earlier sessions up to date, and passes their events to `follow`; they are not kept after this. */
const begin = Effect.fnUntraced(function* (
  { config, directory, follow, launchedAt, lost }: ExecuteOptions,
  profile: EngineProfile
) {
  const stored = yield* Journal
  const entries = yield* EventLog.readEntries(stored)
  const past = entries.map(({ event }) => event)
  yield* assertSameState(yield* foldStored({ algorithm: config }, past), entries.at(-1)?.state ?? null)
  if (lost !== null) {
    yield* Effect.forEach(lost.unbooked, stored.charge, { discard: true })
    yield* MissingTail.setAside(directory, lost, launchedAt)
  }
  const journal = yield* noted(stored, directory, past.length)
  const { metrics } = filesOf(directory)
  yield* replaceFile(metrics, jsonLines(Projection.metrics({ algorithm: config }, past)))
  const appendMetrics = yield* appender(metrics)
  const current = yield* Ref.make(past.reduce(Projection.sampledAfter, Projection.nothingSampled))
  return { appendMetrics, current, journal, onEvent: yield* follow(profile, past) }
})

/** Appends the error that ended a session to a file; if that fails, the terminal shows the error anyway. */
const keep = Effect.fnUntraced(function* (file: string, cause: Cause.Cause<unknown>) {
  const now = DateTime.formatIso(yield* DateTime.now)
  yield* Effect.ignore(appendFile(file, `${now}\n${Cause.pretty(cause)}\n\n`))
})

/** A run continues only from the state that was committed, never from one that a changed program derives from its events. */
const assertSameState = Effect.fnUntraced(function* (state: RunState.RunState, committed: string | null) {
  const found = yield* StateHash.of(state)
  if (committed !== null && StateHash.differ(committed, found))
    return yield* commandFailure(
      "This version of the program derives another state from the journal's events than the version that wrote them. Resume " +
        "the run with that version, or find the first difference with `inspo replay`."
    )
})

/** Interrupts when the file appears, and removes it. */
export const stopRequested = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.exists(file).pipe(Effect.repeat({ until: (there) => there, schedule: Schedule.spaced("250 millis") }))
  yield* fs.remove(file)
  return yield* Effect.interrupt
}, Effect.orDie)

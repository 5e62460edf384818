import { AlgorithmDiff, EventLog, type RunEvent } from "@inspo/coevolution"
import { algorithmOf, type RunConfig } from "@inspo/config"
import { Journal } from "@inspo/journal"
import { Effect, Layer, Predicate } from "effect"
import { commandFailure } from "../Failure.ts"
import { readConfig } from "./ConfigFile.ts"
import { filesOf } from "./Files.ts"
import { layerJournal } from "./JournalLayer.ts"
import * as Trust from "./Trust.ts"

export interface StoredRun {
  readonly directory: string
  readonly config: RunConfig
  readonly events: ReadonlyArray<RunEvent>
  /** Whether there is a journal: a run that ended early may have none. */
  readonly begun: boolean
}

/** Reads a run without disturbing it; fails where its config was changed in what decides results. */
export const readRun = Effect.fn("RunDirectory.read")(function* (directory: string) {
  yield* Effect.annotateCurrentSpan({ directory })
  const config = yield* readConfig(directory)
  const run: StoredRun = { directory, config, ...(yield* readEvents(directory, config)) }
  const begun = run.events.find((event) => event._tag === "RunStarted")
  const [change] = begun === undefined ? [] : AlgorithmDiff.of(begun.algorithm, algorithmOf(config))
  if (change === undefined) return run
  return yield* commandFailure(
    `${filesOf(directory).config}: ${AlgorithmDiff.describe(change)}. Set it back, or restore the file from a copy.`
  )
})

/** The events of a run whose config is known. */
export const readEvents = Effect.fnUntraced(function* (directory: string, config: RunConfig) {
  const events = yield* withJournal(directory, config, EventLog.read).pipe(
    Effect.catchIf(isMissing, () => Effect.succeed(null))
  )
  return { events: events ?? [], begun: events !== null }
})

/** What a run with a journal has spent, by phase. */
export const readLedger = (directory: string, config: RunConfig) =>
  withJournal(directory, config, (journal) => journal.ledger)

/** Uses the journal of a run for reading. */
export const withJournal = <A, E, R>(
  directory: string,
  config: RunConfig,
  use: (journal: Journal["Service"]) => Effect.Effect<A, E, R>
) => Effect.provide(Journal.use(use), layerReading(directory, config), { local: true })

/** The journal of a run for reading; a database that the directory names only where the user consents. */
export const layerReading = (directory: string, config: RunConfig) =>
  Layer.unwrap(Effect.as(Trust.ensure(directory, config, "read"), layerJournal(directory, config, "read-only")))

const isMissing = (error: unknown): boolean =>
  Predicate.isTagged(error, "JournalError") && Predicate.hasProperty(error, "reason") && error.reason === "missing"

import * as EventLog from "@inspo/coevolution/EventLog"
import type { RunEvent } from "@inspo/coevolution/RunEvent"
import { RunConfig, complete } from "@inspo/config/RunConfig"
import { Journal } from "@inspo/journal"
import { Effect, FileSystem, Layer, Predicate, Schema } from "effect"
import { CommandFailure, oneLine } from "../Failure.ts"
import { filesOf } from "./Files.ts"
import { layerJournal } from "./JournalLayer.ts"
import * as Trust from "./Trust.ts"

/** What a run directory holds: the config and every event so far. */
export interface StoredRun {
  readonly directory: string
  readonly config: RunConfig
  readonly events: ReadonlyArray<RunEvent>
  /** Whether there is a journal: a run that died early may have none. */
  readonly begun: boolean
}

/** Reads a run without disturbing it. One of an earlier version is read as it would be written today. */
export const readRun = Effect.fn("RunDirectory.read")(function* (directory: string) {
  const config = yield* readConfig(directory)
  return { directory, config, ...(yield* readEvents(directory, config)) } satisfies StoredRun
})

/** The events of a run whose config is known. */
export const readEvents = Effect.fnUntraced(function* (directory: string, config: RunConfig) {
  const events = yield* withJournal(directory, config, EventLog.read).pipe(
    Effect.catchIf(isMissing, () => Effect.succeed(null))
  )
  return { events: events ?? [], begun: events !== null }
})

/** What a run whose journal is there has spent, by phase. */
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

/** The resolved config of a run. */
export const readConfig = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const file = filesOf(directory).config
  const text = yield* fs.readFileString(file).pipe(
    Effect.mapError(
      (cause) =>
        new CommandFailure({
          problem: `There is no run in ${directory}: ${file} cannot be read (${cause.reason._tag}). Check the path.`,
          cause
        })
    )
  )
  return yield* decodeConfig(text).pipe(
    Effect.mapError(
      (cause) =>
        new CommandFailure({
          problem:
            cause._tag === "ConfigError"
              ? `${file} is of an earlier version: ${cause.message}`
              : `${file} is not the config of a run: ${oneLine(cause.message)}. Restore it from a copy.`,
          cause
        })
    )
  )
})

const decodeConfig = (text: string) =>
  Effect.flatMap(decodeJson(text), (stored) => Effect.flatMap(Effect.fromResult(complete(stored)), decode))
const decodeJson = Schema.decodeEffect(Schema.fromJsonString(Schema.Unknown))
const decode = Schema.decodeUnknownEffect(RunConfig)

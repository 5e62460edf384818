import { Journal } from "@inspo/journal"
import * as sqlite from "@inspo/journal/sqlite"
import { RunConfig } from "@inspo/coevolution/Config"
import * as EventLog from "@inspo/coevolution/EventLog"
import type { RunEvent } from "@inspo/coevolution/RunEvent"
import { Effect, FileSystem, Schema } from "effect"
import { CommandFailure } from "../Failure.ts"
import { filesOf } from "./Files.ts"

/** What a run directory holds: the config and every event so far. */
export interface StoredRun {
  readonly directory: string
  readonly config: RunConfig
  readonly events: ReadonlyArray<RunEvent>
}

/** Reads a run without disturbing it. */
export const readRun = Effect.fn("RunDirectory.read")(function* (directory: string) {
  const config = yield* readConfig(directory)
  const events = yield* Effect.flatMap(Journal, EventLog.read).pipe(
    Effect.provide(sqlite.layer({ file: filesOf(directory).journal, mode: "read-only" }))
  )
  return { directory, config, events } satisfies StoredRun
})

/** The resolved config of a run. */
export const readConfig = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const file = filesOf(directory).config
  const text = yield* fs.readFileString(file).pipe(
    Effect.mapError(
      (error) =>
        new CommandFailure({
          problem: `There is no run in ${directory}: ${file} cannot be read (${error.reason._tag}). Check the path.`
        })
    )
  )
  return yield* decodeConfig(text).pipe(
    Effect.mapError(
      ({ message }) =>
        new CommandFailure({ problem: `${file} is not the config of a run: ${message}. Restore it from a copy.` })
    )
  )
})

const decodeConfig = Schema.decodeEffect(Schema.fromJsonString(RunConfig))

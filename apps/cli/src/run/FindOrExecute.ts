import { AlgorithmDiff, type RunState, foldStored } from "@inspo/coevolution"
import { type RunConfig, algorithmOf } from "@inspo/config"
import { Effect, FileSystem } from "effect"
import { CommandFailure } from "../Failure.ts"
import { writeConfig } from "../runDirectory/ConfigFile.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { TrustFlag } from "../commands/handler.ts"
import * as MissingTail from "../runDirectory/MissingTail.ts"
import { readLedger, readRun } from "../runDirectory/Read.ts"
import * as Trust from "../runDirectory/Trust.ts"
import type { Reporter } from "../terminal/Reporter.ts"
import { execute, type ExecuteOptions } from "./Execute.ts"
import { watch } from "./Watch.ts"

export interface FindOrExecuteOptions extends Pick<
  ExecuteOptions,
  "code" | "config" | "directory" | "launchedAt" | "loaded"
> {
  readonly reporter: Reporter
}

/**
 * The finished run of a config in its own directory: read if it exists, continued if it was stopped, else executed. Fails if
 * the directory holds the run of another config.
 */
export const findOrExecute = Effect.fn("FindOrExecute.findOrExecute")(function* (options: FindOrExecuteOptions) {
  const fs = yield* FileSystem.FileSystem
  const { config, directory, reporter } = options
  const files = filesOf(directory)
  const noted = yield* MissingTail.listen(directory)
  const known = (yield* fs.exists(files.config)) ? yield* readKnown(directory, config) : null
  if (known !== null) {
    const [other] = AlgorithmDiff.of(algorithmOf(known.config), algorithmOf(config))
    if (other !== undefined)
      return yield* new CommandFailure({
        problem:
          `${directory} holds a run with other settings: ${AlgorithmDiff.describe(other)}. Choose another --out, or remove that ` +
          "directory."
      })
    const ledger = known.begun ? yield* readLedger(directory, known.config) : []
    const lost = yield* MissingTail.find(directory, noted, known.events, ledger)
    if (lost !== null) return yield* MissingTail.refusal(directory, lost)
    const state = yield* foldStored({ algorithm: config }, known.events)
    if (state.phase._tag === "Finished") return state
  }
  yield* fs.makeDirectory(directory, { recursive: true })
  yield* Trust.remember(directory, config)
  yield* writeConfig(directory, config)
  const { state } = yield* execute({
    ...options,
    mode: known?.begun === true ? "open" : "create",
    lost: null,
    follow: (_, past) => watch(reporter, config, past)
  })
  return state satisfies RunState.RunState
})

/** A run that exists: it may name what the wanted config names, which the user allowed; `--trust` covers no more. */
const readKnown = Effect.fnUntraced(function* (directory: string, wanted: RunConfig) {
  yield* Trust.remember(directory, wanted)
  return yield* Effect.provideService(readRun(directory), TrustFlag, false)
})

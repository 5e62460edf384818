/** `config.json` of a run directory: every setting of the run. */
import { RunConfig } from "@inspo/config"
import { Effect, Schema } from "effect"
import { decode } from "../config/Decode.ts"
import { commandFailure, oneLine, systemWords } from "../Failure.ts"
import { filesOf } from "./Files.ts"
import * as Regular from "./Regular.ts"
import { replaceFile } from "./Write.ts"

/** The config of a run; fails for the settings of another version. */
export const readConfig = Effect.fnUntraced(function* (directory: string) {
  const file = filesOf(directory).config
  const text = yield* Regular.read(file, Regular.documentBytes).pipe(
    Effect.mapError((cause) =>
      commandFailure(
        `There is no run in ${directory}: ${file} cannot be read (${cause.reason._tag === "NotFound" ? "NotFound" : systemWords(cause)}). Check the path.`,
        cause
      )
    )
  )
  const stored = yield* Effect.mapError(decodeJson(text), (cause) =>
    commandFailure(`${file} is not the config of a run: ${oneLine(cause.message)}. Restore it from a copy.`, cause)
  )
  return yield* Effect.mapError(Effect.fromResult(decode(stored, () => remedy)), (cause) =>
    commandFailure(`${file}: ${cause.message}`, cause)
  )
})

export const writeConfig = (directory: string, config: RunConfig) =>
  Effect.flatMap(Schema.encodeEffect(RunConfig)(config), (encoded) =>
    replaceFile(filesOf(directory).config, `${JSON.stringify(encoded, null, 2)}\n`)
  )

const decodeJson = Schema.decodeEffect(Schema.fromJsonString(Schema.Unknown))

const remedy =
  "Start the run again, or use the version of inspo that wrote it. Restore the file from a copy if it was changed since."

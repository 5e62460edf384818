/** The directory of a search or a comparison, and what its failures say about it. */
import { FileFailed } from "@inspo/evolve"
import { Effect, FileSystem } from "effect"
import { type CommandFailure, commandFailure, type UsageError, usageError } from "../Failure.ts"
import { makeDirectories } from "../runDirectory/Claim.ts"

/** A directory that is new, or empty, or of an earlier call of the same command. */
export const claim = Effect.fnUntraced(function* (directory: string, command: string) {
  const fs = yield* FileSystem.FileSystem
  const entries = yield* makeDirectories(directory).pipe(
    Effect.andThen(fs.readDirectory(directory)),
    Effect.mapError(({ reason }) =>
      usageError(
        `${directory} cannot be written (${reason._tag}). Name a writable place with --out DIR; nothing was started.`
      )
    )
  )
  // A process that was killed while it began leaves only the lock of its file.
  if (entries.some((name) => !name.startsWith("events.jsonl")) && !entries.includes("events.jsonl"))
    return yield* usageError(
      `--out is ${directory}, which has other files; expected a new or empty directory, or that of an earlier \`${command}\`.`
    )
})

/** Why a search or a comparison ended, and what the user does now. */
export const failureOf = (cause: unknown, directory: string, remedy = ""): UsageError | CommandFailure => {
  const problem = cause instanceof Error ? cause.message : String(cause)
  // Without a cause it is a file of another search, which is as it should be.
  return cause instanceof FileFailed && cause.cause === undefined
    ? usageError(`${problem}, with --out DIR.`, cause)
    : commandFailure(
        `${problem.replace(/\.$/u, "")}.${remedy} All answers so far are in ${directory}; the same command continues.`,
        cause
      )
}

import { DatasetError } from "@inspo/datasets"
import { Effect, FileSystem, Path } from "effect"
import { CommandFailure, UsageError, usageError } from "../Failure.ts"
import { makeDirectories } from "../runDirectory/Claim.ts"

/** Fails if a file exists, unless it may be overwritten. */
export const refuseExisting = Effect.fnUntraced(function* (files: ReadonlyArray<string>, force: boolean) {
  const fs = yield* FileSystem.FileSystem
  if (force) return
  for (const file of files) {
    if (yield* Effect.orElseSucceed(fs.exists(file), () => false))
      return yield* usageError(`${file} exists. Write to another place, or overwrite it with --force.`)
  }
})

/** Lets `write` make a file under another name in the same directory, and then puts it in place as a whole. */
export const replace = Effect.fnUntraced(function* <E extends { readonly message: string }, R>(
  file: string,
  write: (temporary: string) => Effect.Effect<void, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = path.dirname(file)
  // The name keeps its extension, which selects the format.
  const temporary = path.join(directory, `.${process.pid}.${path.basename(file)}`)
  const unwritten = ({ message }: { readonly message: string }) => ({ problem: `${file} was not written: ${message}.` })
  yield* makeDirectories(directory).pipe(Effect.mapError((cause) => new UsageError({ ...unwritten(cause), cause })))
  yield* write(temporary).pipe(
    Effect.andThen(fs.rename(temporary, file)),
    Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true }))),
    Effect.mapError((cause) =>
      // The file that is read has the fault, not the one that is written.
      cause instanceof DatasetError && cause.file !== temporary
        ? new UsageError({ ...unwritten(cause), cause })
        : new CommandFailure({ ...unwritten(cause), cause })
    )
  )
})

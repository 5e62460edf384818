import { Effect, FileSystem, Path, type PlatformError } from "effect"
import { usageError } from "../Failure.ts"

/** A directory that belongs to one new run; `discard` removes what the claim created. */
export interface Claim {
  readonly directory: string
  readonly discard: Effect.Effect<void>
}

/** Claims a directory that the user named: it must be new or empty. The `remedy` is for one that is neither. */
export const claim = Effect.fn("RunDirectory.claim")(function* (
  directory: string,
  remedy = `Choose another one, or continue the run in it with \`inspo resume ${directory}\`.`
) {
  const fs = yield* FileSystem.FileSystem
  const refuse = unusable(directory)
  if (yield* fs.exists(directory).pipe(Effect.mapError(refuse))) {
    const entries = yield* fs.readDirectory(directory).pipe(Effect.mapError(refuse))
    if (entries.length > 0)
      return yield* usageError(
        `--out is ${directory}, which is not empty; expected a new or an empty directory. ${remedy}`
      )
    yield* fs.access(directory, { writable: true }).pipe(Effect.mapError(refuse))
    return {
      directory,
      discard: fs
        .readDirectory(directory)
        .pipe(
          Effect.flatMap(Effect.forEach((entry) => fs.remove(`${directory}/${entry}`, { recursive: true }))),
          Effect.ignore
        )
    } satisfies Claim
  }
  yield* makeDirectories(directory).pipe(Effect.mapError(refuse))
  return { directory, discard: Effect.ignore(fs.remove(directory, { recursive: true })) } satisfies Claim
})

/** Claims `parent/name`, or `parent/name-2` and so on when it is taken: no run ever overwrites another. */
export const claimNumbered = Effect.fn("RunDirectory.claimNumbered")(function* (parent: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  yield* makeDirectories(parent).pipe(Effect.mapError(unusable(parent)))
  for (let number = 1; ; number++) {
    const directory = `${parent}/${number === 1 ? name : `${name}-${number}`}`
    // Making a directory that exists fails, so that two runs started at once cannot claim the same one.
    const isNew = yield* fs.makeDirectory(directory).pipe(
      Effect.as(true),
      Effect.catchIf(
        (error) => error.reason._tag === "AlreadyExists",
        () => Effect.succeed(false)
      ),
      Effect.mapError(unusable(directory))
    )
    if (isNew) return { directory, discard: Effect.ignore(fs.remove(directory, { recursive: true })) } satisfies Claim
  }
})

/** A directory and those above it, one by one: Node's own recursive call never returns for a place such as `/proc/x`. */
export const makeDirectories: (
  directory: string
) => Effect.Effect<void, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> = Effect.fnUntraced(function* (
  directory: string
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (yield* fs.exists(directory)) return
  yield* makeDirectories(path.dirname(directory))
  yield* fs.makeDirectory(directory).pipe(
    // Another run may have made it in the meantime.
    Effect.catchIf(
      (error) => error.reason._tag === "AlreadyExists",
      () => Effect.void
    )
  )
})

/** Where no run would be continued. */
export const chooseAnother = "Choose another one."

const unusable = (directory: string) => (error: PlatformError.PlatformError) =>
  usageError(
    `The run directory ${directory} cannot be written (${error.reason._tag}). ` +
      "Name a writable place with --out DIR; nothing was started."
  )

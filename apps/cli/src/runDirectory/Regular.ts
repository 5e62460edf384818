/** Reads files of a run directory, which others may have made: a pipe or device there must neither block nor fill the memory. */
import * as RegularFile from "@inspo/domain/RegularFile"
import { Effect, PlatformError, Schema } from "effect"
import { stat } from "node:fs/promises"
import { commandFailure, fileFailure } from "../Failure.ts"

/** The text of a regular file of at most `mostBytes`; by default as long as a text can be. */
export const read = (file: string, mostBytes?: number): Effect.Effect<string, PlatformError.PlatformError> =>
  attempt(file, () => RegularFile.readText(file, mostBytes))

/** The same; null if there is no such file. */
export const readIfThere = (file: string, mostBytes?: number) => orNull(read(file, mostBytes))

/** Fails for what is no regular file, before anything is appended to it or copied from it. */
export const assertRegular = (file: string) =>
  Effect.flatMap(orNull(attempt(file, () => stat(file))), (stats) => {
    const problem = stats === null ? null : RegularFile.fault(stats)
    return problem === null ? Effect.void : Effect.fail(failed(file)(new Error(problem)))
  })

/** A document of JSON, or null if there is no such file; `problem` is what an invalid one is called. */
export const readDocument = Effect.fnUntraced(function* <A>(
  file: string,
  schema: Schema.Codec<A, string>,
  problem: (message: string) => string
) {
  const text = yield* Effect.mapError(readIfThere(file, documentBytes), (cause) => fileFailure(file, "read", cause))
  return text === null
    ? null
    : yield* Effect.mapError(Schema.decodeEffect(schema)(text), (cause) =>
        commandFailure(problem(cause.message), cause)
      )
})

/** More than any config, outcome or note of what was spent has. */
export const documentBytes = 2 ** 24

const orNull = <A>(reading: Effect.Effect<A, PlatformError.PlatformError>) =>
  Effect.catchIf(
    reading,
    ({ reason }) => reason._tag === "NotFound",
    () => Effect.succeed(null)
  )

const attempt = <A>(file: string, run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: failed(file) })

const failed = (file: string) => (cause: unknown) =>
  PlatformError.systemError({
    _tag: cause instanceof Error && "code" in cause ? (tags.get(cause.code) ?? "Unknown") : "InvalidData",
    module: "FileSystem",
    method: "read",
    pathOrDescriptor: file,
    cause
  })

const tags: ReadonlyMap<unknown, PlatformError.SystemErrorTag> = new Map([
  ["ENOENT", "NotFound"],
  ["ENOTDIR", "BadResource"],
  ["EACCES", "PermissionDenied"]
])

/** `annotation.json` of a run directory: tags and a note of users, which no other command reads or changes. */
import { CatalogError } from "@inspo/dashboard/RunCatalog"
import { Annotation, type AnnotationEdit, type AnnotationView, none } from "@inspo/dashboard/view/Annotation"
import { Effect, FileSystem, Option, Schema } from "effect"
import { oneLine } from "../Failure.ts"
import { filesOf } from "./Files.ts"
import * as Regular from "./Regular.ts"
import { replaceFile } from "./Write.ts"

/** More than any valid annotation has. */
export const mostBytes = 65_536

/** The annotation of a run; `before` is what was read earlier, and is returned if the file is the same. */
export const read = Effect.fnUntraced(function* (directory: string, before: AnnotationView) {
  const fs = yield* FileSystem.FileSystem
  const file = filesOf(directory).annotation
  const failed = (version: string, problem: string): AnnotationView => ({
    ...none,
    version,
    problem: `annotation.json ${problem}. Correct or remove the file to see and edit tags and the note.`
  })
  const found = yield* Effect.result(fs.stat(file))
  if (found._tag === "Failure")
    return found.failure.reason._tag === "NotFound"
      ? none
      : failed("unknown", `cannot be read (${found.failure.reason._tag})`)
  const { ino, mtime, size, type } = found.success
  const version = [
    Option.getOrElse(ino, () => 0),
    size,
    Option.match(mtime, { onNone: () => 0, onSome: Number })
  ].join()
  if (version === before.version) return before
  if (type !== "File" || Number(size) > mostBytes)
    return failed(version, `is a ${type} of ${size} bytes, expected a file of at most ${mostBytes}`)
  return yield* Effect.match(Effect.flatMap(Regular.read(file, mostBytes), decode), {
    onFailure: ({ message }) => failed(version, `is not a valid annotation (${oneLine(message)})`),
    onSuccess: ({ note, tags }): AnnotationView => ({ note, tags, version, problem: null })
  })
})

/** Replaces the annotation of a run, unless it cannot be read or is not the one that was edited. */
export const write = Effect.fnUntraced(
  function* (directory: string, { note, tags, version }: AnnotationEdit) {
    const stored = yield* read(directory, none)
    if (stored.problem !== null) return yield* new CatalogError({ problem: stored.problem })
    if (stored.version !== version)
      return yield* new CatalogError({
        problem:
          "Nothing was saved, because the tags or the note were changed elsewhere in the meantime. Copy your text, cancel, and " +
          "edit the present ones."
      })
    yield* replaceFile(filesOf(directory).annotation, `${JSON.stringify({ tags, note }, null, 2)}\n`)
  },
  Effect.mapError(({ message }) => new CatalogError({ problem: message }))
)

const decode = Schema.decodeEffect(Schema.fromJsonString(Annotation))

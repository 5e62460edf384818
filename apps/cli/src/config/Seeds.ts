import { Effect, Predicate, Result, Schema } from "effect"
import { parse } from "yaml"
import { UsageError } from "../Failure.ts"
import type { Override } from "./Resolve.ts"
import { readText } from "./TextFile.ts"

/**
 * An override whose `instruction.seeds` is a path, with the instructions that the file lists in its place: a YAML (or JSON)
 * list of texts. Any other override as it is.
 */
export const withSeeds = Effect.fnUntraced(function* (override: Override) {
  const { instruction } = override
  if (!Predicate.isObject(instruction) || !("seeds" in instruction) || typeof instruction.seeds !== "string")
    return override
  return { ...override, instruction: { ...instruction, seeds: yield* readSeeds(instruction.seeds) } } satisfies Override
})

const readSeeds = Effect.fnUntraced(function* (file: string) {
  const text = yield* Effect.catchTag(readText(file), "PlatformError", (cause) =>
    Effect.fail(
      new UsageError({
        problem: `instruction.seeds is ${file}, which cannot be read (${cause.reason._tag}). Check the path.`,
        cause
      })
    )
  )
  return yield* Effect.fromResult(
    Result.try({ try: (): unknown => parse(text), catch: (cause) => cause }).pipe(Result.flatMap(decode))
  ).pipe(
    Effect.mapError(
      (cause) =>
        new UsageError({
          problem: `instruction.seeds is ${file}, expected a YAML list of instructions: one "- text" each.`,
          cause
        })
    )
  )
})

const decode = Schema.decodeUnknownResult(Schema.Array(Schema.NonEmptyString))

import { Texts } from "@inspo/rollout/RolloutConfig"
import { Effect, Predicate, Result, Schema, Struct } from "effect"
import { parse } from "yaml"
import { UsageError } from "../Failure.ts"
import { type Override, valueAt } from "./Resolve.ts"
import * as RowPrompt from "./RowPrompt.ts"
import { readText } from "./TextFile.ts"

/**
 * An override with the contents of the files that it names in the place of values: `instruction.seeds` as a YAML (or JSON)
 * list of texts, and `rollout.texts` as a mapping of some of the texts. `instruction.seed` and `rollout.texts.prompt` may be
 * `{rows: FILE}`: what the prompts of question rows have there.
 */
export const withNamedFiles = Effect.fnUntraced(function* (override: Override) {
  let read = override
  for (const one of named) read = yield* withFile(read, one)
  for (const one of inRows) read = yield* withRows(read, one)
  return read
})

const inRows: ReadonlyArray<{
  readonly path: string
  readonly of: (prompt: RowPrompt.RowPrompt) => string
}> = [
  { path: "instruction.seed", of: ({ instruction }) => instruction },
  { path: "rollout.texts.prompt", of: ({ template }) => template }
]

const Rows = Schema.Struct({ rows: Schema.NonEmptyString })

const withRows = Effect.fnUntraced(function* (override: Override, { of, path }: (typeof inRows)[number]) {
  const value = valueAt(override, path)
  if (!Schema.is(Rows)(value)) return override
  const prompt = yield* RowPrompt.read(value.rows)
  return placed(override, path.split("."), of(prompt))
})

const placed = (tree: Override, [key = "", ...rest]: ReadonlyArray<string>, value: string): Override => {
  const child = tree[key]
  return { ...tree, [key]: Predicate.isObject(child) && rest.length > 0 ? placed(child, rest, value) : value }
}

interface Named {
  readonly section: string
  readonly key: string
  readonly expected: string
  readonly decode: (value: unknown) => Result.Result<unknown, Schema.SchemaError>
}

const named: ReadonlyArray<Named> = [
  {
    section: "instruction",
    key: "seeds",
    expected: 'a YAML list of instructions: one "- text" each',
    decode: Schema.decodeUnknownResult(Schema.Array(Schema.NonEmptyString))
  },
  {
    section: "rollout",
    key: "texts",
    expected: `a YAML mapping of ${Object.keys(Texts.fields).join(", ")} to texts`,
    decode: Schema.decodeUnknownResult(Texts.mapFields(Struct.map(Schema.optionalKey)), { onExcessProperty: "error" })
  }
]

const withFile = Effect.fnUntraced(function* (override: Override, { decode, expected, key, section }: Named) {
  const values = override[section]
  if (!Predicate.isObject(values) || !Predicate.hasProperty(values, key) || typeof values[key] !== "string")
    return override
  const file = values[key]
  const field = `${section}.${key}`
  const text = yield* Effect.catchTag(readText(file), "PlatformError", (cause) =>
    Effect.fail(
      new UsageError({
        problem: `${field} is ${file}, which cannot be read (${cause.reason._tag}). Check the path.`,
        cause
      })
    )
  )
  const contents = yield* Effect.fromResult(
    Result.try({ try: (): unknown => parse(text), catch: (cause) => cause }).pipe(Result.flatMap(decode))
  ).pipe(Effect.mapError((cause) => new UsageError({ problem: `${field} is ${file}, expected ${expected}.`, cause })))
  return { ...override, [section]: { ...values, [key]: contents } } satisfies Override
})

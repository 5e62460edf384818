import { Texts } from "@inspo/rollout"
import { Effect, Predicate, Result, Schema, Struct } from "effect"
import { usageError } from "../Failure.ts"
import { type Override, valueAt } from "./Resolve.ts"
import * as RowPrompt from "./RowPrompt.ts"
import { readNamed } from "./TextFile.ts"
import * as Yaml from "./Yaml.ts"

/**
 * An override in which values that are paths of files are replaced by their contents: `variants` by a YAML (or JSON) list of
 * texts, `rollout.texts` by a mapping of some of the texts. `seedInstruction` and `rollout.texts.prompt` can be
 * `{rows: FILE}`, which reads them from the prompts of question rows.
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
  { path: "seedInstruction", of: ({ instruction }) => instruction },
  { path: "rollout.texts.prompt", of: ({ template }) => template }
]

const Rows = Schema.Struct({ rows: Schema.NonEmptyString })

const withRows = Effect.fnUntraced(function* (override: Override, { of, path }: (typeof inRows)[number]) {
  const value = valueAt(override, path)
  if (!Schema.is(Rows)(value)) return override
  const prompt = yield* RowPrompt.read(value.rows)
  return placed(override, path.split("."), of(prompt))
})

const placed = (tree: Override, [key = "", ...rest]: ReadonlyArray<string>, value: unknown): Override => {
  const child = tree[key]
  return { ...tree, [key]: Predicate.isObject(child) && rest.length > 0 ? placed(child, rest, value) : value }
}

interface Named {
  readonly path: string
  readonly expected: string
  readonly decode: (value: unknown) => Result.Result<unknown, Schema.SchemaError>
}

const named: ReadonlyArray<Named> = [
  {
    path: "variants",
    expected: 'a YAML list of instructions: one "- text" each',
    decode: Schema.decodeUnknownResult(Schema.Array(Schema.NonEmptyString))
  },
  {
    path: "rollout.texts",
    expected: `a YAML mapping of ${Object.keys(Texts.fields).join(", ")} to texts`,
    decode: Schema.decodeUnknownResult(Texts.mapFields(Struct.map(Schema.optionalKey)), { onExcessProperty: "error" })
  }
]

const withFile = Effect.fnUntraced(function* (override: Override, { decode, expected, path }: Named) {
  const file = valueAt(override, path)
  if (typeof file !== "string") return override
  const text = yield* readNamed(file, `${path} is ${file}, which`)
  const contents = yield* Effect.fromResult(
    Result.try({ try: (): unknown => Yaml.parse(text), catch: (cause) => cause }).pipe(Result.flatMap(decode))
  ).pipe(Effect.mapError((cause) => usageError(`${path} is ${file}, expected ${expected}.`, cause)))
  return placed(override, path.split("."), contents)
})

/** YAML, and so JSON, of files that people write. */
import { Option, Result } from "effect"
import { parse as parseYaml, type ParseOptions, type SchemaOptions } from "yaml"

/** The value of a text. Throws an error of one line that says what is wrong, also of cycles and of levels beyond {@link deepest}. */
export const parse = (text: string, options: ParseOptions & SchemaOptions = {}): unknown => {
  // The YAML parser takes seconds for what is nested thousands of times.
  assertTree(Option.getOrNull(readJson(text)), new Set(), new Set())
  let value: unknown
  try {
    value = parseYaml(text, options)
  } catch (cause) {
    const [line = ""] = (cause instanceof Error ? cause.message : String(cause)).split("\n")
    throw new Error(
      line.startsWith("Maximum call stack")
        ? tooDeep
        : line.startsWith("Excessive alias")
          ? "its aliases repeat too much; write the values out"
          : line.replace(/[:.]$/u, ""),
      { cause }
    )
  }
  assertTree(value, new Set(), new Set())
  return value
}

export const deepest = 100

const tooDeep = `it is nested too deeply; expected at most ${deepest} levels`

/** `above` are the values that contain this one, `known` those that were checked. */
const assertTree = (value: unknown, above: Set<unknown>, known: Set<unknown>): void => {
  if (typeof value !== "object" || value === null || known.has(value)) return
  if (above.has(value)) throw new Error("an alias is a value that contains it; write the value out")
  if (above.size === deepest) throw new Error(tooDeep)
  above.add(value)
  for (const field of Object.values(value)) assertTree(field, above, known)
  above.delete(value)
  known.add(value)
}

const readJson = (text: string): Option.Option<unknown> =>
  Result.getSuccess(Result.try((): unknown => JSON.parse(text)))

import { Array as Arr, Result, Schema } from "effect"

/**
 * What a template can hold, each written as `{{name}}`.
 *
 * - `parent`: the text of the instruction to improve
 * - `examples`: failures as `<example>` blocks
 * - `history`: instructions with their scores as one `<history>` block
 * - `count`: how many candidates are asked for
 * - `tags`: the XML tags of the original instruction
 * - `format`: how the candidates are to be written
 */
export const Placeholder = Schema.Literals(["parent", "examples", "history", "count", "tags", "format"])
export type Placeholder = typeof Placeholder.Type

/** The prompts there are: from failures, from scores, and from the parent alone. */
export const PromptKind = Schema.Literals(["reflection", "history", "paraphrase"])
export type PromptKind = typeof PromptKind.Type

/** A prompt with placeholders, known to hold what its kind needs. */
export interface PromptTemplate {
  readonly kind: PromptKind
  readonly text: string
}

/** A template cannot be used; `source` is the file it was read from. */
export class PromptTemplateError extends Schema.TaggedError<PromptTemplateError>()("PromptTemplateError", {
  source: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `prompt ${this.source}: ${this.reason}`
  }
}

/** What a prompt of each kind must hold, and what it may hold besides `count` and `tags`. */
export const placeholders: Readonly<
  Record<PromptKind, { readonly required: ReadonlyArray<Placeholder>; readonly optional: ReadonlyArray<Placeholder> }>
> = {
  reflection: { required: ["parent", "examples", "format"], optional: ["count", "tags"] },
  history: { required: ["history", "format"], optional: ["parent", "count", "tags"] },
  paraphrase: { required: ["parent", "format"], optional: ["count", "tags"] }
}

/**
 * Reads a template. A placeholder that its kind does not know, or lacks, is an error that names it.
 *
 * @example
 * ```ts
 * import * as PromptTemplate from "@inspo/reflection/PromptTemplate"
 *
 * PromptTemplate.parse("paraphrase", "mine.txt", "Improve this:\n<ins_0>{{parent}}</ins_0>\n{{format}}")
 * ```
 */
export const parse = (
  kind: PromptKind,
  source: string,
  text: string
): Result.Result<PromptTemplate, PromptTemplateError> => {
  const { optional, required } = placeholders[kind]
  const known: ReadonlyArray<string> = [...required, ...optional]
  const held = Arr.dedupe([...text.matchAll(hole)].map(([, name]) => (name ?? "").trim()))
  const unknown = held.find((name) => !known.includes(name))
  const missing = required.find((name) => !held.includes(name))
  const all = known.map((name) => `{{${name}}}`).join(", ")
  if (unknown !== undefined)
    return fail(source, `it holds {{${unknown}}}, expected only ${all} in a ${kind} prompt; remove or rename it`)
  if (missing !== undefined)
    return fail(source, `it lacks {{${missing}}}, which a ${kind} prompt needs; put it where that text belongs`)
  return Result.succeed({ kind, text })
}

/** Puts values in the place of the placeholders. A value is put as it is: placeholders within it stay. */
export const render = ({ text }: PromptTemplate, values: Readonly<Record<Placeholder, string>>): string =>
  text.replace(hole, (whole, name: string) => {
    const key = name.trim()
    return isPlaceholder(key) ? values[key] : whole
  })

const hole = /\{\{([^{}]*)\}\}/gu

const isPlaceholder = Schema.is(Placeholder)

const fail = (source: string, reason: string) => Result.fail(new PromptTemplateError({ source, reason }))

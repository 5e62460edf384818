import { Array as Arr, Result, Schema } from "effect"

/**
 * What a template can hold, each written as `{{name}}`.
 *
 * - `parent`: the text of the instruction to improve
 * - `examples`: failures as `<example>` blocks
 * - `history`: instructions with their scores as one `<history>` block; of kind `reflection`, with a sentence before it, and
 *   empty if only the parent was tried
 * - `method`: how to find what to change
 * - `count`: how many candidates are asked for
 * - `tags`: the XML tags of the original instruction
 * - `format`: how the candidates are to be written
 */
export const Placeholder = Schema.Literals(["parent", "examples", "history", "method", "count", "tags", "format"])
export type Placeholder = typeof Placeholder.Type

/** The prompts there are: from failures, from scores, and from the parent alone. */
export const PromptKind = Schema.Literals(["reflection", "history", "paraphrase"])
export type PromptKind = typeof PromptKind.Type

/** A prompt, known to hold only placeholders of its kind, and to say how candidates are to be written. */
export interface PromptTemplate {
  readonly kind: PromptKind
  readonly text: string
}

/** A template cannot be used: `source`, the file it was read from, holds something else than expected. */
export class PromptTemplateError extends Schema.TaggedError<PromptTemplateError>()("PromptTemplateError", {
  source: Schema.String,
  found: Schema.String,
  expected: Schema.String
}) {
  override get message() {
    return `prompt ${this.source}: it holds ${this.found}, expected ${this.expected}`
  }
}

/** What a prompt of each kind may hold. */
export const placeholders: Readonly<Record<PromptKind, ReadonlyArray<Placeholder>>> = {
  reflection: ["parent", "examples", "history", "method", "format", "count", "tags"],
  history: ["history", "format", "parent", "count", "tags"],
  paraphrase: ["parent", "format", "count", "tags"]
}

/**
 * Reads a template. One without placeholders is a prompt as a whole. An error says which placeholder its kind does not know,
 * or that no candidate could be read from an answer, since it holds neither `{{format}}` nor a tag such as `<ins_1>`.
 *
 * @example
 * ```ts
 * import { PromptTemplate } from "@inspo/reflection"
 *
 * PromptTemplate.parse("paraphrase", "mine.txt", "Improve this:\n<ins_0>{{parent}}</ins_0>\n{{format}}")
 * ```
 */
export const parse = (
  kind: PromptKind,
  source: string,
  text: string
): Result.Result<PromptTemplate, PromptTemplateError> => {
  const known: ReadonlyArray<string> = placeholders[kind]
  const unknown = held(text).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const all = known.map((name) => `{{${name}}}`).join(", ")
    return fail(source, `{{${unknown}}}`, `only ${all} in a ${kind} prompt; remove or rename it`)
  }
  const template = { kind, text }
  return isWhole(template) && !candidateTag.test(text)
    ? fail(source, "neither {{format}} nor a tag such as <ins_1>", "one of them, since candidates are read from it")
    : Result.succeed(template)
}

/** Whether a prompt says itself how candidates are to be written. */
export const isWhole = (template: PromptTemplate): boolean => !holds(template, "format")

/** Whether a prompt has a place for a value. */
export const holds = ({ text }: PromptTemplate, name: Placeholder): boolean => held(text).includes(name)

/** Puts values in the place of the placeholders. A value is put as it is: placeholders within it stay. */
export const render = ({ text }: PromptTemplate, values: Readonly<Record<Placeholder, string>>): string =>
  text.replace(hole, (whole, name: string) => {
    const key = name.trim()
    return isPlaceholder(key) ? values[key] : whole
  })

const held = (text: string): ReadonlyArray<string> =>
  Arr.dedupe([...text.matchAll(hole)].map(([, name]) => (name ?? "").trim()))

/** As `CandidateParser` reads it; a prompt may number it by a letter. */
const candidateTag = /(?:<|&lt;)\s*ins[_ -]?\w+\s*(?:>|&gt;)/iu

const hole = /\{\{([^{}]*)\}\}/gu

const isPlaceholder = Schema.is(Placeholder)

const fail = (source: string, found: string, expected: string) =>
  Result.fail(new PromptTemplateError({ source, found, expected }))

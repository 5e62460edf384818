import { FirstIssue } from "@inspo/domain"
import { Predicate, Result, Schema, type SchemaIssue } from "effect"
import type { Response } from "effect/ai"
import type { AnswerPart } from "../Provider.ts"

/** How one protocol counts tokens; absent where a server does not. */
export interface Counted {
  readonly input: number | null | undefined
  readonly output: number | null | undefined
  readonly thoughts: number | null | undefined
}

/** A field that a server may leave out or set to null. */
export const Maybe = <S extends Schema.Constraint>(schema: S) => Schema.optional(Schema.NullOr(schema))

/** The sum of what was counted; undefined where nothing was. */
export const sum = (...counts: ReadonlyArray<number | null | undefined>): number | undefined => {
  const known = counts.filter(Predicate.isNotNullish)
  return known.length === 0 ? undefined : known.reduce((total, count) => total + count, 0)
}

/** A reader of JSON bodies of a schema. What is wrong with another body is said in one sentence. */
export const reader = <A>(
  schema: Schema.ConstraintDecoder<A>,
  parts: (answer: A) => ReadonlyArray<AnswerPart>
): ((body: string) => Result.Result<ReadonlyArray<AnswerPart>, string>) => {
  const decode = Schema.decodeUnknownResult(Schema.fromJsonString(schema))
  return (body) => Result.mapBoth(decode(body), { onSuccess: parts, onFailure: ({ issue }) => problem(issue) })
}

/** Text, where there is any. */
export const text = (written: string | null | undefined): ReadonlyArray<AnswerPart> =>
  written ? [{ type: "text", text: written }] : []

/** Thoughts, where there are any. */
export const thoughts = (written: string | null | undefined): ReadonlyArray<AnswerPart> =>
  written ? [{ type: "reasoning", text: written }] : []

/** A tool call; `index` makes an id where a server gives none. */
export const call = (
  id: string | null | undefined,
  index: number,
  name: string,
  input: Schema.Json,
  signature?: string | null
): AnswerPart => ({
  type: "call",
  call: { id: id || `${made}${index}`, name, input, ...(signature ? { signature } : {}) }
})

/** Whether an id was made here, because the server gave none. */
export const isMade = (id: string): boolean => id.startsWith(made)

const made = "inspo-call-"

/** What a text means as JSON; the text itself where it is none, such as arguments that were cut off. */
export const json = (written: string): Schema.Json => Result.getOrElse(decodeJson(written), () => written)

const decodeJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Json))

/** The arguments of a call as providers take them back: an object. */
export const object = (input: Schema.Json): Schema.JsonObject =>
  Result.getOrElse(decodeObject(input), (): Schema.JsonObject => ({}))

const decodeObject = Schema.decodeUnknownResult(Schema.JsonObject)

/** Why the model stopped, and what was counted. */
export const finish = (reason: Response.FinishReason, { input, output, thoughts }: Counted): AnswerPart => ({
  type: "finish",
  reason,
  usage: {
    inputTokens: { total: input ?? undefined },
    outputTokens: { total: output ?? undefined, reasoning: thoughts ?? undefined }
  }
})

const problem = (issue: SchemaIssue.Issue): string => {
  const { expected, field } = FirstIssue.of(issue, undefined)
  return field === "" ? `expected ${expected}` : `${field}: expected ${expected}`
}

/** Reads bodies of requests. */
import { Malformed, OpenAiRefusal } from "@inspo/http/server"
import { Option, Result, Schema } from "effect"

/** Decodes a body; unknown fields are ignored, since clients send many that change nothing here. */
export const decoding = <S extends Schema.Decoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (body: unknown): Result.Result<S["Type"], OpenAiRefusal.Refusal> => Result.mapError(decode(body), misread)
}

/** The most tokens of an answer. */
export const MaxTokens = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

/** The text of a content of parts. */
export const textOf = (
  content: string | ReadonlyArray<{ readonly text?: string | null | undefined }> | null | undefined
): string => (typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join(""))

/** The arguments of a call as templates read them: an object. */
export const argumentsOf = (text: string): Schema.JsonObject => Option.getOrElse(decodeObject(text), () => ({}))

const decodeObject = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

/** What is wrong with a body, and with which of its fields. */
const misread = (cause: Schema.SchemaError): OpenAiRefusal.Refusal => {
  const { expected, path } = Malformed.deepest(cause.issue)
  const field = path.length === 0 ? undefined : Malformed.fieldOf(path)
  return new OpenAiRefusal.Refusal({
    status: 400,
    ...(field === undefined ? {} : { field }),
    reason: `${field ?? "the body"}: expected ${expected}`,
    cause
  })
}

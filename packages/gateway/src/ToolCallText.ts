/** Tool calls in the text of a policy: `<tool_call>{"name": …, "arguments": …}</tool_call>`, as Hermes and Qwen write them. */
import { Option, Schema } from "effect"

/** The content and the calls of a text; one whose calls cannot be read is content alone. */
export const read = (text: string): Read => {
  const calls = Array.from(text.matchAll(written), ([, body = ""]) => Option.getOrNull(decode(body)))
  return calls.length === 0 || calls.includes(null)
    ? { content: text, calls: [] }
    : {
        content: text.slice(0, text.search(written)).trimEnd(),
        calls: calls.flatMap((call) => (call === null ? [] : [{ name: call.name, input: call.arguments ?? {} }]))
      }
}

export interface Read {
  readonly content: string
  readonly calls: ReadonlyArray<{ readonly name: string; readonly input: Schema.JsonObject }>
}

const written = /<tool_call>(.*?)<\/tool_call>/gsu

const decode = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      name: Schema.NonEmptyString,
      arguments: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
    })
  )
)

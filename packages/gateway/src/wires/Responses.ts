/** OpenAI's Responses, whose clients send the whole conversation: what the server would have to keep is refused. */
import type { TemplateMessage } from "@inspo/engine"
import { maybe } from "@inspo/engine/Wire"
import { OpenAiRefusal } from "@inspo/http/server"
import { Result, Schema } from "effect"
import type { Answered, Choice } from "../ChatCall.ts"
import { argumentsOf, decoding, MaxTokens, textOf } from "./Decoding.ts"
import type { About, Reply, Wire } from "./Wire.ts"

const Text = Schema.Struct({
  type: Schema.Literals(["input_text", "output_text", "refusal"]),
  text: maybe(Schema.String)
})
const Content = Schema.Union([Schema.String, Schema.Array(Text)])

const Item = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("function_call"),
    call_id: Schema.String,
    name: Schema.String,
    arguments: Schema.String
  }),
  Schema.Struct({ type: Schema.Literal("function_call_output"), call_id: Schema.String, output: Content }),
  Schema.Struct({ role: Schema.Literals(["system", "developer", "user", "assistant"]), content: Content })
])

const Tool = Schema.StructWithRest(Schema.Struct({ type: Schema.Literal("function") }), [
  Schema.Record(Schema.String, Schema.Json)
])

const Request = Schema.Struct({
  input: Schema.Union([Schema.String, Schema.NonEmptyArray(Item)]),
  instructions: maybe(Schema.String),
  previous_response_id: maybe(Schema.Null),
  tools: maybe(Schema.Array(Tool)),
  tool_choice: maybe(Schema.Json),
  max_output_tokens: maybe(MaxTokens),
  stream: maybe(Schema.Boolean)
})

/** `POST …/responses`. */
export const wire: Wire = {
  path: "/responses",
  read: (body) =>
    Result.map(decoding(Request)(body), ({ input, instructions, max_output_tokens, stream, tool_choice, tools }) => ({
      call: {
        messages: [
          ...(instructions == null ? [] : [{ role: "system", content: instructions } as const]),
          ...(typeof input === "string" ? [{ role: "user", content: input } as const] : input.reduce(joined, []))
        ],
        tools:
          tool_choice === "none"
            ? []
            : (tools ?? []).map(({ type, ...definition }) => ({ type, function: definition })),
        n: 1,
        maxTokens: max_output_tokens ?? null,
        stop: [],
        keepsStop: false
      },
      answer: (answered, about) => {
        const response = responseOf(answered, about)
        return stream === true ? events(response) : { _tag: "Json", body: response }
      }
    })),
  refused: (refusal) => OpenAiRefusal.bodyOf(refusal)
}

/** The messages with an item: calls belong to the assistant's message before them. */
const joined = (messages: ReadonlyArray<TemplateMessage>, item: typeof Item.Type): ReadonlyArray<TemplateMessage> => {
  if ("role" in item) {
    const role = item.role === "developer" ? "system" : item.role
    return [...messages, { role, content: textOf(item.content) }]
  }
  if (item.type === "function_call_output")
    return [...messages, { role: "tool", content: textOf(item.output), tool_call_id: item.call_id }]
  const call = {
    id: item.call_id,
    type: "function",
    function: { name: item.name, arguments: argumentsOf(item.arguments) }
  }
  const last = messages.at(-1)
  return last?.role === "assistant"
    ? [...messages.slice(0, -1), { ...last, tool_calls: [...(last.tool_calls ?? []), call] }]
    : [...messages, { role: "assistant", content: "", tool_calls: [call] }]
}

const itemsOf = ({ calls, content }: Choice, id: string) => [
  ...(content === "" && calls.length > 0
    ? []
    : [
        {
          type: "message",
          id: `msg_${id}`,
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: content, annotations: [], logprobs: [] }]
        } as const
      ]),
  ...calls.map(
    ({ id, input, name }) =>
      ({
        type: "function_call",
        id: `fc_${id}`,
        call_id: id,
        name,
        arguments: JSON.stringify(input),
        status: "completed"
      }) as const
  )
]

const responseOf = ({ choices, promptTokens }: Answered, { created, id, model }: About) => {
  const sampled = choices.reduce((sum, { tokens }) => sum + tokens.length, 0)
  const isCut = choices.some(({ ended }) => ended === "length")
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: created,
    model,
    status: isCut ? "incomplete" : "completed",
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
    error: null,
    instructions: null,
    output: choices.flatMap((choice) => itemsOf(choice, id)),
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    metadata: {},
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: sampled,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: promptTokens + sampled
    }
  }
}

type Response = ReturnType<typeof responseOf>

/** A response as events: each item in one piece, since an engine gives a sequence as a whole. */
const events = (response: Response): Reply => {
  const begun = { ...response, status: "in_progress", incomplete_details: null, output: [], usage: null }
  const ended = response.status === "completed" ? "response.completed" : "response.incomplete"
  const all: ReadonlyArray<Event> = [
    { type: "response.created", response: begun },
    ...response.output.flatMap((item, index) => eventsOf(item, { item_id: item.id, output_index: index })),
    { type: ended, response }
  ]
  return {
    _tag: "Events",
    events: all.map((event, index) => ({
      event: event.type,
      data: JSON.stringify({ ...event, sequence_number: index })
    }))
  }
}

interface Event {
  readonly type: string
  readonly [field: string]: unknown
}

const eventsOf = (
  item: Response["output"][number],
  at: { readonly item_id: string; readonly output_index: number }
): ReadonlyArray<Event> => {
  const { output_index } = at
  const done = { type: "response.output_item.done", output_index, item }
  if (item.type === "function_call")
    return [
      {
        type: "response.output_item.added",
        output_index,
        item: { ...item, status: "in_progress", arguments: "" }
      },
      { type: "response.function_call_arguments.delta", ...at, delta: item.arguments },
      { type: "response.function_call_arguments.done", ...at, name: item.name, arguments: item.arguments },
      done
    ]
  const [part] = item.content
  const inPart = { ...at, content_index: 0 }
  return [
    { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...inPart, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...inPart, delta: part.text, logprobs: [] },
    { type: "response.output_text.done", ...inPart, text: part.text, logprobs: [] },
    { type: "response.content_part.done", ...inPart, part },
    done
  ]
}

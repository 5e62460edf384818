/** OpenAI's Chat Completions: the fields that agents send, and those of vLLM that matter here. */
import type { TemplateMessage } from "@inspo/engine"
import { maybe } from "@inspo/engine/Wire"
import { OpenAiRefusal } from "@inspo/http/server"
import { Result, Schema } from "effect"
import type { Answered, ChatCall, Choice } from "../ChatCall.ts"
import type { Wire } from "./Wire.ts"
import { argumentsOf, decoding, MaxTokens, textOf } from "./Decoding.ts"

const Parts = Schema.Array(Schema.Struct({ type: Schema.Literals(["text", "refusal"]), text: maybe(Schema.String) }))

const ToolCall = Schema.Struct({
  id: maybe(Schema.String),
  function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
})

const Message = Schema.Struct({
  role: Schema.Literals(["system", "developer", "user", "assistant", "tool"]),
  content: maybe(Schema.Union([Schema.String, Parts])),
  tool_calls: maybe(Schema.Array(ToolCall)),
  tool_call_id: maybe(Schema.String),
  name: maybe(Schema.String)
})

const Request = Schema.Struct({
  messages: Schema.NonEmptyArray(Message),
  tools: maybe(Schema.Array(Schema.Record(Schema.String, Schema.Json))),
  tool_choice: maybe(Schema.Json),
  n: maybe(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 128 }))),
  max_tokens: maybe(MaxTokens),
  max_completion_tokens: maybe(MaxTokens),
  stop: maybe(Schema.Union([Schema.NonEmptyString, Schema.Array(Schema.NonEmptyString)])),
  stream: maybe(Schema.Boolean),
  stream_options: maybe(Schema.Struct({ include_usage: maybe(Schema.Boolean) })),
  logprobs: maybe(Schema.Boolean),
  include_stop_str_in_output: maybe(Schema.Boolean)
})

/** `POST …/chat/completions`. */
export const wire: Wire = {
  path: "/chat/completions",
  read: (body) =>
    Result.map(decoding(Request)(body), (request) => {
      const { stop } = request
      const call: ChatCall = {
        messages: request.messages.map(messageOf),
        tools: request.tool_choice === "none" ? [] : (request.tools ?? []),
        n: request.n ?? 1,
        maxTokens: request.max_completion_tokens ?? request.max_tokens ?? null,
        stop: typeof stop === "string" ? [stop] : (stop ?? []),
        keepsStop: request.include_stop_str_in_output ?? false
      }
      return {
        call,
        answer: (answered, about) => {
          const head = { id: `chatcmpl-${about.id}`, created: about.created, model: about.model }
          const choices = answered.choices.map((choice, index) => ({
            index,
            message: message(choice),
            finish_reason: reasons[choice.ended],
            logprobs: request.logprobs === true ? logprobs(choice, about.decode) : null
          }))
          const used = usage(answered)
          if (request.stream !== true)
            return { _tag: "Json", body: { ...head, object: "chat.completion", choices, usage: used } }
          return {
            _tag: "Events",
            events: [
              ...chunks(head, choices),
              ...(request.stream_options?.include_usage === true
                ? [{ ...head, object: chunk, choices: [], usage: used }]
                : [])
            ]
              .map((data) => ({ data: JSON.stringify(data) }))
              .concat({ data: "[DONE]" })
          }
        }
      }
    }),
  refused: (refusal) => OpenAiRefusal.bodyOf(refusal)
}

const messageOf = ({
  content,
  name,
  role,
  tool_call_id: id,
  tool_calls: calls
}: typeof Message.Type): TemplateMessage => ({
  role: role === "developer" ? "system" : role,
  content: textOf(content),
  ...(calls === undefined || calls === null || calls.length === 0
    ? {}
    : {
        tool_calls: calls.map((call) => ({
          ...(call.id === undefined || call.id === null ? {} : { id: call.id }),
          type: "function",
          function: {
            name: call.function.name,
            arguments: argumentsOf(call.function.arguments)
          }
        }))
      }),
  ...(id === undefined || id === null ? {} : { tool_call_id: id }),
  ...(name === undefined || name === null ? {} : { name })
})

const reasons = { stop: "stop", length: "length", calls: "tool_calls" } as const

const message = ({ calls, content }: Choice) => ({
  role: "assistant",
  content: content === "" && calls.length > 0 ? null : content,
  ...(calls.length === 0
    ? {}
    : {
        tool_calls: calls.map(({ id, input, name }) => ({
          id,
          type: "function",
          function: { name, arguments: JSON.stringify(input) }
        }))
      })
})

const chunk = "chat.completion.chunk"

/** Two chunks a choice, since an engine gives a sequence as a whole: its message, and its end. */
const chunks = (
  head: object,
  choices: ReadonlyArray<{
    readonly index: number
    readonly message: ReturnType<typeof message>
    readonly finish_reason: string
    readonly logprobs: object | null
  }>
) =>
  choices.flatMap(({ finish_reason, index, logprobs, message: { tool_calls, ...delta } }) => [
    {
      ...head,
      object: chunk,
      choices: [
        {
          index,
          delta:
            tool_calls === undefined
              ? delta
              : { ...delta, tool_calls: tool_calls.map((call, index) => ({ index, ...call })) },
          finish_reason: null,
          logprobs
        }
      ]
    },
    { ...head, object: chunk, choices: [{ index, delta: {}, finish_reason, logprobs: null }] }
  ])

const logprobs = ({ logprobs, tokens }: Choice, decode: (tokens: ReadonlyArray<number>) => string) => ({
  content: tokens.map((id, index) => {
    const token = decode([id])
    return { token, logprob: logprobs[index], bytes: Array.from(new TextEncoder().encode(token)), top_logprobs: [] }
  })
})

const usage = ({ choices, promptTokens }: Answered) => {
  const completion = choices.reduce((sum, { tokens }) => sum + tokens.length, 0)
  return { prompt_tokens: promptTokens, completion_tokens: completion, total_tokens: promptTokens + completion }
}

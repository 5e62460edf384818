import { assert, describe, it } from "@effect/vitest"
import type { Engine } from "@inspo/engine"
import { Gateway, layer, pathOf, routes } from "@inspo/gateway"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter } from "effect/http"

const called = `Let me look.<tool_call>{"name": "search", "arguments": {"query": "Marlen"}}</tool_call><tool_call>{"name": "read", "arguments": {}}</tool_call>`

/** Calls two tools at first, then answers with what they said. */
const gateway = layer({
  maxCalls: 8,
  maxPromptTokens: 4_000,
  maxResponseTokens: 500,
  temperature: 1,
  topP: 1,
  tools: []
}).pipe(
  Layer.provideMerge(ScriptedEngine.layer((prompt) => (prompt.includes("Ostrel Bay") ? "It is Ostrel Bay." : called)))
)

/** An episode, and what its agent sends. */
const serving = Effect.gen(function* () {
  const { close, name } = yield* (yield* Gateway).open({ seed: "1", instruction: { text: "Answer briefly." } })
  const services = yield* Effect.context<Gateway | Engine>()
  const { dispose, handler } = HttpRouter.toWebHandler(routes.pipe(Layer.provide(Layer.succeedContext(services))), {
    disableLogger: true
  })
  yield* Effect.addFinalizer(() => Effect.promise(dispose))
  const send = Effect.fnUntraced(function* (path: string, body: object) {
    const request = new Request(`http://localhost${pathOf(name)}${path}`, {
      method: "POST",
      body: JSON.stringify(body)
    })
    const response = yield* Effect.promise(() => handler(request))
    return { status: response.status, text: yield* Effect.promise(() => response.text()) }
  })
  const json = <S extends Schema.Decoder<unknown>>(schema: S, path: string, body: object) =>
    Effect.flatMap(send(path, body), ({ text }) =>
      Effect.orDie(Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(text))
    )
  return { close, send, json }
})

const Tool = Schema.Struct({
  id: Schema.String,
  function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
})
const Completion = Schema.Struct({
  choices: Schema.NonEmptyArray(
    Schema.Struct({
      finish_reason: Schema.String,
      message: Schema.Struct({
        role: Schema.Literal("assistant"),
        content: Schema.NullOr(Schema.String),
        tool_calls: Schema.optionalKey(Schema.Array(Tool))
      }),
      logprobs: Schema.NullOr(
        Schema.Struct({ content: Schema.Array(Schema.Struct({ token: Schema.String, logprob: Schema.Finite })) })
      )
    })
  ),
  usage: Schema.Struct({ prompt_tokens: Schema.Int, completion_tokens: Schema.Int })
})
const tools = ["search", "read"].map((name) => ({
  type: "function",
  function: { name, parameters: { type: "object" } }
}))
const question = { role: "user", content: "Where is Marlen Tovik?" }

describe("routes", () => {
  it.effect("OpenAI: calls of tools come back with their results, in one sequence", () =>
    Effect.gen(function* () {
      const { close, json } = yield* serving
      const first = yield* json(Completion, "/chat/completions", { messages: [question], tools, logprobs: true })
      const [{ finish_reason, logprobs, message }] = first.choices
      assert.strictEqual(finish_reason, "tool_calls")
      assert.strictEqual(message.content, "Let me look.")
      assert.deepEqual(
        message.tool_calls?.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
        [
          ["search", { query: "Marlen" }],
          ["read", {}]
        ]
      )
      assert.strictEqual(logprobs?.content.map(({ token }) => token).join(""), `${called}<|end|>`)
      assert.strictEqual(first.usage.completion_tokens, called.length + 1)
      const untooled = yield* json(Completion, "/chat/completions", {
        messages: [{ role: "user", content: "Who?" }],
        tools,
        tool_choice: "none"
      })
      assert.strictEqual(untooled.choices[0].message.content, called)
      const results = (message.tool_calls ?? []).map(({ id }) => ({
        role: "tool",
        tool_call_id: id,
        content: "Ostrel Bay <|end|>"
      }))
      const second = yield* json(Completion, "/chat/completions", { messages: [question, message, ...results], tools })
      assert.strictEqual(second.choices[0].message.content, "It is Ostrel Bay.")
      const { recording } = yield* close
      assert.strictEqual(recording.earlier?.length, 1, "the call without tools is another conversation")
      assert.strictEqual(recording.toolCalls, 2)
      assert.deepEqual(
        recording.transcript.slice(0, 2).map(({ action, text }) => [action.kind, text]),
        [
          ["search", `${called}<|end|>`],
          ["message", "It is Ostrel Bay.<|end|>"]
        ]
      )
      // A special token in a tool's result is text.
      assert.notInclude(recording.transcript[0]?.observation ?? "", "<|end|>")
    }).pipe(Effect.provide(gateway))
  )

  it.effect("Anthropic: the same, with blocks", () =>
    Effect.gen(function* () {
      const { close, json } = yield* serving
      const Message = Schema.Struct({
        stop_reason: Schema.String,
        content: Schema.Array(Schema.Record(Schema.String, Schema.Json))
      })
      const named = tools.map((tool) => ({ name: tool.function.name, input_schema: { type: "object" } }))
      const asked = { max_tokens: 400, system: "You help.", tools: named }
      const first = yield* json(Message, "/messages", { ...asked, messages: [question] })
      assert.strictEqual(first.stop_reason, "tool_use")
      assert.deepEqual(
        first.content.map(({ name, text, type }) => [type, name ?? text]),
        [
          ["text", "Let me look."],
          ["tool_use", "search"],
          ["tool_use", "read"]
        ]
      )
      const results = first.content.flatMap(({ id, type }) =>
        type === "tool_use" ? [{ type: "tool_result", tool_use_id: id, content: "Ostrel Bay" }] : []
      )
      const messages = [question, { role: "assistant", content: first.content }, { role: "user", content: results }]
      const second = yield* json(Message, "/messages", { ...asked, messages })
      assert.deepEqual([second.stop_reason, second.content[0]?.["text"]], ["end_turn", "It is Ostrel Bay."])
      assert.strictEqual((yield* close).recording.earlier, undefined)

      const again = yield* serving
      for (const [type, block] of [
        ["none", { type: "text", text: called }],
        ["auto", { type: "text", text: "Let me look." }]
      ] as const) {
        const chosen = { ...asked, messages: [question], tool_choice: { type } }
        assert.deepEqual((yield* again.json(Message, "/messages", chosen)).content[0], block)
      }
    }).pipe(Effect.provide(gateway))
  )

  it.effect("OpenAI's responses: the same, with items, also as events", () =>
    Effect.gen(function* () {
      const { close, json, send } = yield* serving
      const Response = Schema.Struct({
        status: Schema.String,
        output: Schema.Array(Schema.Record(Schema.String, Schema.Json))
      })
      const named = tools.map(({ function: definition, type }) => ({ type, ...definition }))
      const asked = { instructions: "You help.", tools: named }
      const { output } = yield* json(Response, "/responses", { ...asked, input: "Where is Marlen Tovik?" })
      assert.deepEqual(
        output.map(({ name, type }) => [type, name]),
        [
          ["message", undefined],
          ["function_call", "search"],
          ["function_call", "read"]
        ]
      )
      const results = output.flatMap(({ call_id, type }) =>
        type === "function_call" ? [{ type: "function_call_output", call_id, output: "Ostrel Bay" }] : []
      )
      const input = [question, ...output, ...results]
      const second = yield* json(Response, "/responses", { ...asked, input })
      assert.include(JSON.stringify(second.output), "It is Ostrel Bay.")
      assert.strictEqual((yield* close).recording.earlier, undefined)

      const again = yield* serving
      const { text } = yield* again.send("/responses", { ...asked, input: "Who?", stream: true })
      assert.deepEqual(
        Array.from(text.matchAll(/"type":"([\w.]+)","(?:response|output_index|item_id)"/gu), ([, type]) => type),
        [
          "response.created",
          "response.output_item.added",
          "response.content_part.added",
          "response.output_text.delta",
          "response.output_text.done",
          "response.content_part.done",
          "response.output_item.done",
          ...[0, 1].flatMap(() => [
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done"
          ]),
          "response.completed"
        ]
      )
      const kept = yield* send("/responses", { input: "Who?", previous_response_id: "resp_1" })
      assert.include(kept.text, "previous_response_id")
    }).pipe(Effect.provide(gateway))
  )

  it.effect("streams the same answers as events", () =>
    Effect.gen(function* () {
      const { send } = yield* serving
      const { text } = yield* send("/chat/completions", {
        messages: [question],
        tools,
        stream: true,
        stream_options: { include_usage: true }
      })
      const events = text.split("\n\n").filter((event) => event !== "")
      assert.strictEqual(events.at(-1), "data: [DONE]")
      assert.include(events[0] ?? "", `"role":"assistant","content":"Let me look.","tool_calls":[{"index":0,"id":`)
      assert.include(events.at(-2) ?? "", `"usage":{"prompt_tokens":`)
      const streamed = yield* send("/messages", { max_tokens: 9, stream: true, messages: [question] })
      const names = Array.from(streamed.text.matchAll(/^event: (.*)$/gmu), ([, name]) => name)
      assert.deepEqual(names, [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop"
      ])
      assert.include(streamed.text, `"stop_reason":"max_tokens"`)
    }).pipe(Effect.provide(gateway))
  )

  it.effect("names what is wrong with a request, as each client reads it", () =>
    Effect.gen(function* () {
      const { send } = yield* serving
      const missing = yield* send("/chat/completions", { messages: [] })
      assert.strictEqual(missing.status, 400)
      assert.include(missing.text, `"param":"messages[0]"`)
      const image = yield* send("/chat/completions", { messages: [{ role: "user", content: [{ type: "image_url" }] }] })
      assert.include(image.text, "messages[0].content[0].type")
      const untold = yield* send("/messages", { messages: [question] })
      assert.include(untold.text, `"type":"invalid_request_error"`)
      assert.include(untold.text, "max_tokens")
      for (const least of [-1, 0])
        for (const [path, body, field] of [
          ["/chat/completions", { messages: [question], max_tokens: least }, "max_tokens"],
          ["/chat/completions", { messages: [question], max_completion_tokens: least }, "max_completion_tokens"],
          ["/responses", { input: "Who?", max_output_tokens: least }, "max_output_tokens"],
          ["/messages", { messages: [question], max_tokens: least }, "max_tokens"],
          ["/chat/completions", { messages: [question], stop: "" }, "stop"]
        ] as const) {
          const { status, text } = yield* send(path, body)
          assert.strictEqual(status, 400, path)
          assert.include(text, field)
        }
    }).pipe(Effect.provide(gateway))
  )
})

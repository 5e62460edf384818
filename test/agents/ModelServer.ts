/** A model behind OpenAI's chat completions and responses, over HTTP, that tells by which system prompt it was asked. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse
} from "node:http"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { Schema } from "effect"

export interface Asked {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** What stands in its system messages. */
  readonly system: string
  /** Whether the caller went away before the answer ended. */
  aborted: boolean
}

const Content = Schema.NullOr(
  Schema.Union([Schema.String, Schema.Array(Schema.Struct({ text: Schema.optionalKey(Schema.String) }))])
)
const Message = Schema.Struct({
  role: Schema.optionalKey(Schema.String),
  type: Schema.optionalKey(Schema.String),
  content: Schema.optionalKey(Content)
})
const Name = Schema.Struct({ name: Schema.optionalKey(Schema.String) })
const Body = Schema.Struct({
  stream: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  user: Schema.optionalKey(Schema.String),
  messages: Schema.optionalKey(Schema.Array(Message)),
  input: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Message)])),
  instructions: Schema.optionalKey(Schema.NullOr(Schema.String)),
  tools: Schema.optionalKey(Schema.Array(Schema.Struct({ ...Name.fields, function: Schema.optionalKey(Name) })))
})
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Body))

/**
 * It calls the first tool that it is offered, then answers as `reply` says: by default with its system prompt. A stream for the
 * user `leaves` begins and does not end; `fail`: the status of every answer.
 */
export class ModelServer {
  readonly asked: Array<Asked> = []
  #answers = 0
  fail: number | null = null
  readonly #reply: (asked: Asked) => string
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response))

  constructor(reply: (asked: Asked) => string = ({ system }) => system) {
    this.#reply = reply
  }

  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1")
    await once(this.#server, "listening")
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/v1`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }

  /** Breaks off every answer. */
  drop(): void {
    this.#server.closeAllConnections()
  }

  /** The system prompts that were asked with since the last time. */
  takeSystems(): ReadonlyArray<string> {
    return this.asked.splice(0).map(({ system }) => system)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const { input = [], instructions = null, messages = [], stream, tools = [], user } = decode(body)
    const all = [...messages, ...(typeof input === "string" ? [] : input)]
    const system = [
      ...(instructions === null ? [] : [instructions]),
      ...all.filter(({ role }) => role === "system" || role === "developer").map(({ content }) => textOf(content ?? ""))
    ].join("\n")
    const asked: Asked = { path: request.url ?? "", headers: request.headers, body, system, aborted: false }
    this.asked.push(asked)
    response.on("close", () => (asked.aborted = !response.writableFinished))
    if (this.fail !== null) {
      response.writeHead(this.fail, { "content-type": "application/json", "x-upstream": "yes", "retry-after": "0" })
      response.end(JSON.stringify({ error: { message: "the model is busy", type: "server_error", code: "busy" } }))
      return
    }
    const [tool] = tools
    const isAnswered = all.some(({ role, type }) => role === "tool" || type === "function_call_output")
    const call = tool === undefined || isAnswered ? null : (tool.name ?? tool.function?.name ?? "")
    const of = (request.url ?? "").endsWith("/responses") ? ofResponses : ofChat
    const events = of(++this.#answers, this.#reply(asked), call)
    if (stream !== true) {
      response
        .writeHead(200, { "content-type": "application/json", "x-upstream": "yes" })
        .end(JSON.stringify(events.whole))
      return
    }
    const isEndless = user === "leaves"
    response.writeHead(200, { "content-type": "text/event-stream", "x-upstream": "yes" })
    for (const event of events.parts.slice(0, isEndless ? 2 : undefined)) response.write(event)
    if (!isEndless) response.end()
  }
}

const textOf = (content: Exclude<typeof Content.Type, null>): string =>
  typeof content === "string" ? content : content.map(({ text = "" }) => text).join("")

interface Events {
  readonly whole: unknown
  /** The events of a stream, as they go over the wire. */
  readonly parts: ReadonlyArray<string>
}

const ofChat = (count: number, system: string, call: string | null): Events => {
  const common = { id: `chat-${count}`, created: 1, model: "scripted" }
  const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
  const finish_reason = call === null ? "stop" : "tool_calls"
  const tool_calls = [{ index: 0, id: `call-${count}`, type: "function", function: { name: call, arguments: "{}" } }]
  const message = call === null ? { content: system } : { content: null, tool_calls }
  const part = (choices: ReadonlyArray<unknown>, rest = {}) =>
    `data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", choices, ...rest })}\n\n`
  const delta = (given: unknown, reason: string | null = null) =>
    part([{ index: 0, delta: given, finish_reason: reason }])
  return {
    whole: {
      ...common,
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }],
      usage
    },
    parts: [
      delta({ role: "assistant", content: "" }),
      ...(call === null ? halves(system).map((content) => delta({ content })) : [delta({ tool_calls })]),
      delta({}, finish_reason),
      part([], { usage }),
      "data: [DONE]\n\n"
    ]
  }
}

const ofResponses = (count: number, system: string, call: string | null): Events => {
  const content = [{ type: "output_text", text: system, annotations: [], logprobs: [] }]
  const message = { id: `msg-${count}`, type: "message", role: "assistant", status: "completed", content }
  const item =
    call === null
      ? message
      : {
          id: `fc-${count}`,
          type: "function_call",
          call_id: `call-${count}`,
          name: call,
          arguments: "{}",
          status: "completed"
        }
  const usage = {
    input_tokens: 3,
    output_tokens: 5,
    total_tokens: 8,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 }
  }
  const of = (status: string, output: ReadonlyArray<unknown>) => ({
    id: `resp-${count}`,
    object: "response",
    created_at: 1,
    status,
    model: "scripted",
    output,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    usage: status === "completed" ? usage : null
  })
  const whole = of("completed", [item])
  const at = { item_id: `msg-${count}`, output_index: 0, content_index: 0 }
  const events = [
    { type: "response.created", response: of("in_progress", []) },
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } },
    ...(call === null
      ? halves(system).map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] }))
      : []),
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: whole }
  ]
  return {
    whole,
    parts: events.map(
      (event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`
    )
  }
}

const halves = (text: string): ReadonlyArray<string> => {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

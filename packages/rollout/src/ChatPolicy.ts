import { Chat, Spent } from "@inspo/domain"
import { Context, Effect, Layer, Schema } from "effect"

/**
 * A chat model as a frozen policy: it takes messages and gives text. A rollout over it (`@inspo/rollout/ChatRollout`) needs
 * no token ids, no log-probabilities and no tokenizer.
 */
export class ChatPolicy extends Context.Service<ChatPolicy, ChatPolicy.Interface>()("@inspo/rollout/ChatPolicy") {}

export declare namespace ChatPolicy {
  export interface Interface {
    readonly profile: ChatProfile
    /** Writes the next message of a conversation. */
    readonly write: (request: ChatRequest) => Effect.Effect<ChatAnswer, ChatFailure>
    /** The most that {@link write} can cost; requests whose answers get lost come on top. */
    readonly atMost: (request: ChatRequest) => Spent.Spent
    /** Tokens of a text, as estimated: limits on texts of the environment are kept by it. */
    readonly countTokens: (text: string) => number
  }
}

/**
 * What a chat model is. `fingerprint` identifies it across resumes, without its address; `contextLength` counts prompt and
 * answer, in tokens; `concurrency` is how many conversations to have open at once.
 */
export interface ChatProfile {
  readonly name: string
  readonly model: string
  readonly fingerprint: string
  readonly contextLength: number
  readonly concurrency: number
}

/** A chat model of one's own. `model` identifies it when a run continues; by default 8 conversations run at once. */
export interface Options {
  readonly model: string
  readonly write: (request: ChatRequest, signal: AbortSignal) => Promise<string | Pick<ChatAnswer, "calls" | "text">>
  readonly contextLength?: number
  readonly concurrency?: number
}

/**
 * A function as a chat model: it needs no tokenizer, and what it costs is not counted. If it fails, the collection ends, since a
 * model that is down would fail for every question; the run can be continued.
 *
 * @example
 * ```ts
 * import { ChatPolicy } from "@inspo/rollout"
 *
 * const layer = ChatPolicy.layer({
 *   model: "echo",
 *   write: async ({ messages }) => `I was asked ${messages.length} times.`
 * })
 * ```
 */
export const layer = ({
  concurrency = 8,
  contextLength = Number.MAX_SAFE_INTEGER,
  model,
  write
}: Options): Layer.Layer<ChatPolicy> =>
  Layer.succeed(ChatPolicy, {
    profile: { name: "own", model, fingerprint: `chat:own:${model}`, contextLength, concurrency },
    countTokens: Chat.estimateTokens,
    atMost: () => Spent.nothing,
    write: (request) =>
      Effect.tryPromise({
        try: (signal) => write(request, signal),
        catch: (cause) =>
          new ChatFailure({ reason: `${model}: ${String(cause)}`, ends: "collection", spent: Spent.nothing, cause })
      }).pipe(
        Effect.map((wrote) => {
          const written = typeof wrote === "string" ? { text: wrote } : wrote
          const input = Chat.estimateTokens(JSON.stringify(request.messages))
          return { ...written, input, output: Chat.estimateTokens(written.text), spent: Spent.nothing }
        })
      )
  })

/** What a chat model is asked: to continue a conversation, in which it may call these tools. */
export interface ChatRequest {
  readonly messages: ReadonlyArray<Chat.ChatMessage>
  readonly tools: ReadonlyArray<Chat.ToolDefinition>
}

/** A message of a chat model, with its tool calls. Tokens as its provider counts: `input` is the whole conversation before it. */
export const ChatAnswer = Schema.Struct({
  text: Schema.String,
  calls: Schema.optionalKey(Schema.Array(Chat.ToolCall)),
  input: Schema.Natural,
  output: Schema.Natural,
  spent: Spent.Spent
})
export interface ChatAnswer extends Schema.Schema.Type<typeof ChatAnswer> {}

/**
 * A chat model gave no answer, after all repetitions. `ends` is what this ends: one episode, because the server does not accept
 * its conversation, or the whole collection, because it would not answer others either.
 */
export class ChatFailure extends Schema.TaggedError<ChatFailure>()("ChatFailure", {
  reason: Schema.String,
  ends: Schema.Literals(["episode", "collection"]),
  spent: Spent.Spent,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return this.reason
  }
}

/** Makes a call to a chat model, or reads its answer where it is stored. `key` names it within a run. */
export type MakeChatCall<E> = (
  call: { readonly key: string; readonly atMost: Spent.Spent },
  writing: Effect.Effect<ChatAnswer, ChatFailure>
) => Effect.Effect<ChatAnswer, ChatFailure | E>

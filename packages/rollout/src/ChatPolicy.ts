import { Spent } from "@inspo/domain/Spent"
import type { Message } from "@inspo/engine"
import { Context, type Effect, Schema } from "effect"

/**
 * A chat model as a frozen policy: it takes messages and gives text. A rollout over it (`@inspo/rollout/ChatRollout`) needs
 * no token ids, no log-probabilities and no tokenizer.
 */
export class ChatPolicy extends Context.Service<ChatPolicy, ChatPolicy.Interface>()("@inspo/rollout/ChatPolicy") {}

export declare namespace ChatPolicy {
  export interface Interface {
    readonly profile: ChatProfile
    /** Writes the next message of a conversation. */
    readonly write: (messages: ReadonlyArray<Message>) => Effect.Effect<ChatAnswer, ChatFailure>
    /** The most that {@link write} can cost; requests whose answers get lost come on top. */
    readonly atMost: (messages: ReadonlyArray<Message>) => Spent
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

/** A message of a chat model. Tokens are those that its provider counts: `input` is the whole conversation before it. */
export const ChatAnswer = Schema.Struct({
  text: Schema.String,
  input: Schema.Natural,
  output: Schema.Natural,
  spent: Spent
})
export interface ChatAnswer extends Schema.Schema.Type<typeof ChatAnswer> {}

/**
 * A chat model gave no answer, after all repetitions. `ends` is what this ends: one episode, because the server does not accept
 * its conversation, or the whole collection, because it would not answer others either.
 */
export class ChatFailure extends Schema.TaggedError<ChatFailure>()("ChatFailure", {
  reason: Schema.String,
  ends: Schema.Literals(["episode", "collection"]),
  spent: Spent
}) {
  override get message() {
    return this.reason
  }
}

/** Makes a call to a chat model, or reads its answer where it is stored. `key` names it within a run. */
export type MakeChatCall<E> = (
  call: { readonly key: string; readonly atMost: Spent },
  writing: Effect.Effect<ChatAnswer, ChatFailure>
) => Effect.Effect<ChatAnswer, ChatFailure | E>

import type { Chat } from "@inspo/domain"
import type { Message } from "@inspo/engine"
import type { Array } from "effect"
import type { ChatAnswer } from "../ChatPolicy.ts"
import * as Observation from "../Observation.ts"
import type { Read, Recording } from "../Transcription.ts"
import type { NativeTurn } from "./NativeTurns.ts"

/** The messages of an episode with a chat model while it runs, and their sizes. */
export class Dialogue {
  messages: ReadonlyArray<Chat.ChatMessage> = []
  /** Tokens of the messages, as estimated. */
  used = 0
  private readonly countTokens: (text: string) => number
  private opening = ""
  /** Tokens of the first prompt, and of all segments before the current one. */
  private promptTokens: number | null = null
  private before = 0
  private last: ChatAnswer | null = null
  private native: Native | null = null

  constructor(countTokens: (text: string) => number) {
    this.countTokens = countTokens
  }

  sizeOf(messages: ReadonlyArray<Message>): number {
    return messages.reduce((sum, { content }) => sum + this.countTokens(content), 0)
  }

  open(messages: ReadonlyArray<Message>): void {
    this.messages = messages.map(chatMessage)
    this.used = this.sizeOf(messages)
    if (this.last === null && this.before === 0) this.opening = messages.map(({ content }) => content).join("\n\n")
  }

  /** Begins a segment: calls without a result are gone with the others. */
  restart(messages: ReadonlyArray<Message>): void {
    this.before = this.tokens
    this.open(messages)
    this.last = null
    this.native = null
  }

  /** The policy's turn, as its provider counted it and with its kept text. */
  turn(answer: ChatAnswer, text: string): void {
    this.count(answer)
    this.say("assistant", text)
  }

  /** A message of a policy with native calls, and the turns that it makes: the first is taken. */
  wrote(answer: ChatAnswer, turns: Array.NonEmptyReadonlyArray<NativeTurn>): NativeTurn {
    this.count(answer)
    const calls = answer.calls ?? []
    if (calls.length === 0) this.say("assistant", answer.text)
    else {
      this.messages = [...this.messages, { role: "assistant", text: answer.text, calls }]
      this.used += this.countTokens(answer.text + JSON.stringify(calls))
    }
    this.native = { turns, next: 1, replies: turns.map(() => "") }
    return turns[0]
  }

  /** The next turn of the last message with native calls, if there is one. */
  next(): NativeTurn | undefined {
    if (this.native === null) return undefined
    const turn = this.native.turns[this.native.next]
    if (turn !== undefined) this.native.next++
    return turn
  }

  /** The native turn that was taken last. */
  get current(): NativeTurn | undefined {
    return this.native?.turns[this.native.next - 1]
  }

  /** Shows the policy an observation: with native calls as the reply to its call, without tags. */
  show(observation: string): void {
    const { current, native } = this
    if (native === null) return this.say("user", observation)
    const text = Observation.unwrapped(observation)
    if (current === undefined || current.call === null) return this.say("user", text)
    native.replies[native.next - 1] += text
    this.used += this.countTokens(text)
  }

  /** Ends the last message with native calls: every call gets its result, as all providers demand. */
  settle(): void {
    const results = (this.native?.turns ?? []).flatMap(({ call }, index) =>
      call === null ? [] : [{ call, text: this.native?.replies[index] || noText }]
    )
    if (results.length > 0) this.messages = [...this.messages, { role: "tool", results }]
    this.native = null
  }

  /** Some servers refuse an empty message, or two of one role. */
  say(role: "user" | "assistant", text: string): void {
    this.used += this.countTokens(text)
    this.messages = this.with(role, text)
  }

  /** The messages with one more. */
  with(role: "user" | "assistant", text: string): ReadonlyArray<Chat.ChatMessage> {
    const before = this.messages.at(-1)
    return before?.role === role
      ? [...this.messages.slice(0, -1), { ...before, text: before.text + text }]
      : [...this.messages, { role, text: text === "" ? noText : text }]
  }

  read({ transcript }: Pick<Recording, "transcript">): Read {
    const promptTokens = this.promptTokens ?? 0
    return {
      prompt: this.opening,
      response: transcript.map(({ observation, text }) => text + (observation ?? "")).join(""),
      promptTokens,
      responseTokens: Math.max(0, this.tokens - promptTokens)
    }
  }

  /** Thoughts that a provider counts and does not send are tokens of their turn only. */
  private get tokens(): number {
    return this.before + (this.last === null ? 0 : this.last.input + this.last.output)
  }

  private count(answer: ChatAnswer): void {
    this.promptTokens ??= answer.input
    this.last = answer
  }
}

/** A message of a prompt as a chat model takes it: without calls, a tool's text is one of the user. */
export const chatMessage = ({ content, role }: Message): Chat.ChatMessage => ({
  role: role === "tool" ? "user" : role,
  text: content
})

/** The turns of a message, how many are taken, and the reply to each. */
interface Native {
  readonly turns: ReadonlyArray<NativeTurn>
  next: number
  readonly replies: string[]
}

const noText = "(no text)"

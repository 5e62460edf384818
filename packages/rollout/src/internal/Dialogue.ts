import type { Message } from "@inspo/engine"
import type { ChatAnswer } from "../ChatPolicy.ts"
import type { Read, Recording } from "../Recording.ts"

/** The messages of an episode with a chat model while it runs, and their sizes. */
export class Dialogue {
  messages: ReadonlyArray<Message> = []
  /** Tokens of the messages, as estimated. */
  used = 0
  private readonly countTokens: (text: string) => number
  private opening = ""
  private first: ChatAnswer | null = null
  private last: ChatAnswer | null = null

  constructor(countTokens: (text: string) => number) {
    this.countTokens = countTokens
  }

  sizeOf(messages: ReadonlyArray<Message>): number {
    return messages.reduce((sum, { content }) => sum + this.countTokens(content), 0)
  }

  open(messages: ReadonlyArray<Message>): void {
    this.messages = messages
    this.used = this.sizeOf(messages)
    this.opening = messages.map(({ content }) => content).join("\n\n")
  }

  /** The policy's turn, as its provider counted it and with its kept text. */
  turn(answer: ChatAnswer, text: string): void {
    this.first ??= answer
    this.last = answer
    this.say("assistant", text)
  }

  /** Some servers refuse an empty message, or two of one role. */
  say(role: "user" | "assistant", content: string): void {
    const before = this.messages.at(-1)
    this.used += this.countTokens(content)
    this.messages =
      before?.role === role
        ? [...this.messages.slice(0, -1), { role, content: before.content + content }]
        : [...this.messages, { role, content: content === "" ? "(no text)" : content }]
  }

  read({ transcript }: Pick<Recording, "transcript">): Read {
    const { first, last, opening } = this
    return {
      prompt: opening,
      response: transcript.map(({ observation, text }) => text + (observation ?? "")).join(""),
      promptTokens: first?.input ?? 0,
      // Thoughts that a provider counts and does not send are tokens of their turn only.
      responseTokens: first === null || last === null ? 0 : Math.max(0, last.input + last.output - first.input)
    }
  }
}

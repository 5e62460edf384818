/** From the messages of a call to the tokens that the policy sees: the answers among them keep the tokens that were sampled. */
import type { Message, TemplateMessage, Tokenizer } from "@inspo/engine"
import { Array as Arr, Schema } from "effect"
import type { ChatCall, Choice } from "./ChatCall.ts"

/** The tokens of a context: those of an earlier answer with its context, then those observed since. */
export interface Context {
  readonly parent: Answer | null
  readonly observed: ReadonlyArray<number>
}

/** An answer of the policy, and what it answered. */
export interface Answer {
  readonly context: Context
  readonly tokens: ReadonlyArray<number>
  readonly logprobs: ReadonlyArray<number>
  readonly choice: Choice
  /** The context in which the assistant's message begins, and its text so far: as sampled, and as sent. */
  readonly opened: Context
  readonly written: string
  readonly sent: string
  /** Calls that this one knew the answers of have smaller ones. */
  readonly rank: number
  /** Distinguishes answers to equal contexts. */
  readonly ordinal: number
}

/** A context, and where the assistant's message in it begins. */
export interface Opened {
  readonly context: Context
  readonly opened: Context
  /** What the assistant's message begins with. */
  readonly begun: string
}

/**
 * The context of a call after these answers of its episode. An assistant's message that was an answer has the tokens of this answer,
 * whatever its text would be in tokens. If the last message is the assistant's, the policy continues it.
 */
export const of = (
  { messages, tools }: Pick<ChatCall, "messages" | "tools">,
  answers: Answers,
  tokenizer: Tokenizer
): Opened => {
  const last = messages.at(-1)
  if (last?.role !== "assistant" || last.tool_calls !== undefined) {
    const opened = rendered(messages, tools, answers, tokenizer)
    return { context: opened, opened, begun: "" }
  }
  const opened = rendered(messages.slice(0, -1), tools, answers, tokenizer)
  return { context: continued(opened, last.content, answers, tokenizer), opened, begun: last.content }
}

/** The answers of an episode so far, by their messages. */
export class Answers {
  readonly all: Array<Answer> = []
  private readonly byMessage = new Map<string, Array<Answer>>()
  private readonly encoded = new Map<string, ReadonlyArray<number>>()

  add(answer: Answer): void {
    this.all.push(answer)
    const { calls, content } = answer.choice
    const key = keyOf(
      content,
      calls.map(({ input, name }) => ({ name, input }))
    )
    const equal = this.byMessage.get(key)
    if (equal === undefined) this.byMessage.set(key, [answer])
    else equal.push(answer)
  }

  /** The tokens of a text between answers, which comes again with each call of a conversation. */
  encode(text: string, { encode }: Tokenizer): ReadonlyArray<number> {
    const known = this.encoded.get(text)
    if (known !== undefined) return known
    const tokens = encode(text)
    this.encoded.set(text, tokens)
    return tokens
  }

  /** More than the rank of each answer so far. */
  get rank(): number {
    return this.all.reduce((most, { rank }) => Math.max(most, rank + 1), 0)
  }

  /** Those that an agent got as this message. */
  of({ content, role, tool_calls = [] }: TemplateMessage): ReadonlyArray<Answer> {
    if (role !== "assistant") return []
    return this.byMessage.get(keyOf(content, tool_calls.flatMap(functionOf))) ?? []
  }
}

/** All tokens of a context. */
export const tokensOf = (context: Context): ReadonlyArray<number> => {
  const parts: Array<ReadonlyArray<number>> = []
  for (let at: Context | undefined = context; at !== undefined; at = at.parent?.context) {
    parts.push(at.observed)
    if (at.parent !== null) parts.push(at.parent.tokens)
  }
  // Much faster than `flat`.
  return Arr.empty<number>().concat(...parts.toReversed())
}

export const isSame = (one: Context, other: Context): boolean =>
  one.parent === other.parent && isEqual(one.observed, other.observed)

/** Renders messages with a mark in the place of each answer, and puts the tokens of the answer there. */
const rendered = (
  messages: ReadonlyArray<TemplateMessage>,
  tools: ChatCall["tools"],
  answers: Answers,
  tokenizer: Tokenizer
): Context => {
  const render = (all: ReadonlyArray<TemplateMessage>) => tokenizer.render(all, tools.length === 0 ? undefined : tools)
  const known = messages.map((message) => answers.of(message))
  const marks = known.flatMap((found, index) => (found.length > 0 ? [index] : []))
  const marked =
    marks.length === 0 ? messages : messages.map((message, index) => (marks.includes(index) ? marking(index) : message))
  const [first = "", ...parts] = render(marked).split(mark)
  const isWhole = isEqual(parts.filter((_, index) => index % 2 === 0).map(Number), marks)
  // A template that leaves a message out, or a text with marks of its own.
  if (!isWhole) return { parent: null, observed: tokenizer.encode(render(messages)) }
  const end = tokenizer.decode([tokenizer.endOfSequence])
  let parent: Answer | null = null
  let observed = answers.encode(first, tokenizer)
  for (const [index, text = ""] of Arr.chunksOf(parts, 2)) {
    const found: ReadonlyArray<Answer> = known[Number(index)] ?? []
    const context: Context = { parent, observed }
    const exact = found.findLast((answer) => isSame(answer.context, context))
    const answer = exact ?? found.at(-1)
    if (answer === undefined) continue
    const rest =
      answer.tokens.at(-1) === tokenizer.endOfSequence && text.startsWith(end) ? text.slice(end.length) : text
    const after = answers.encode(rest, tokenizer)
    if (exact === undefined) observed = observed.concat(answer.tokens, after)
    else {
      parent = exact
      observed = after
    }
  }
  return { parent, observed }
}

/** The context within a message of the assistant that begins with a text, of which answers may have written a part. */
const continued = (opened: Context, begun: string, { all }: Answers, tokenizer: Tokenizer): Context => {
  const found = all
    .filter((answer) => isSame(answer.opened, opened))
    .flatMap((answer) => [answer.written, answer.sent].map((text) => ({ answer, text })))
    .filter(({ text }) => text !== "" && begun.startsWith(text))
    .reduce<{ readonly answer: Answer; readonly text: string } | null>(
      (longest, one) => (longest === null || one.text.length >= longest.text.length ? one : longest),
      null
    )
  if (found === null) return { parent: opened.parent, observed: opened.observed.concat(tokenizer.encode(begun)) }
  return { parent: found.answer, observed: tokenizer.encode(begun.slice(found.text.length)) }
}

const isEqual = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): boolean =>
  one === other || (one.length === other.length && one.every((token, index) => token === other[index]))

/** Characters of private use, which no template removes as white space. */
const marking = (index: number): Message => ({ role: "assistant", content: `\uE000${index}\uE001` })
const mark = /\uE000(\d+)\uE001/u

/** Without white space, since agents trim a message, and put line breaks around its thoughts. */
const keyOf = (
  content: string,
  calls: ReadonlyArray<{ readonly name: string; readonly input: Schema.JsonObject }>
): string => JSON.stringify([content.replaceAll(/\s+/gu, ""), calls.map(({ input, name }) => [name, sorted(input)])])

/** A value with the fields of its objects in order, since clients write them in theirs. */
const sorted = (value: Schema.Json): Schema.Json => {
  if (Array.isArray(value)) return value.map(sorted)
  return isRecord(value)
    ? Object.fromEntries(
        Object.entries(value)
          .map(([key, inner]) => [key, sorted(inner)] as const)
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
      )
    : value
}

const isRecord = Schema.is(Schema.Record(Schema.String, Schema.Json))

const isFunction = Schema.is(
  Schema.Struct({
    function: Schema.Struct({ name: Schema.String, arguments: Schema.Record(Schema.String, Schema.Json) })
  })
)

const functionOf = (call: Schema.JsonObject) =>
  isFunction(call) ? [{ name: call.function.name, input: call.function.arguments }] : []

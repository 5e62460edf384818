import { Array as Arr, Schema } from "effect"
import { Method } from "@inspo/domain"
import type { Message } from "@inspo/engine"
import * as ActionParser from "../ActionParser.ts"
import type { AgentKind, Conversation, Draft, Environment } from "../Agent.ts"
import type { Program } from "../Episode.ts"
import * as Prompt from "../Prompt.ts"
import * as ToolLoop from "./ToolLoop.ts"

const parameters = {
  width: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 16 })),
  depth: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 8 }))
}

/**
 * The agent `lookahead`, for test time: the loop of `search-r1`, in which the policy drafts each turn `width` times. Each draft is
 * carried out, and continued in `width` ways until it is `depth` turns long. The policy says how good each end is, from 0 to 10. The
 * first turn on the way to the best end is taken, and all is planned again after it. With `depth: 0` it is `search-r1`.
 *
 * Tools are called for turns that are not taken, so they must only read. Its width and depth are not published.
 */
export const agent: AgentKind<"lookahead", Parameters, Parameters> & { readonly parameters: typeof parameters } = {
  name: "lookahead",
  description: "is `search-r1` with several drafts of each turn, of which it takes the one that leads to the best end",
  source: "FLARE, arXiv 2601.22311",
  certainty: "part",
  defaults: { width: Method.unknown, depth: Method.unknown },
  parameters,
  of: (given) => {
    const width = Method.required("lookahead", "width", given.width)
    const depth = Method.required("lookahead", "depth", given.depth)
    const asides = asidesOf(width, depth)
    return {
      name: "lookahead",
      tools: (config) => config.tools,
      asides: (turns) => turns * asides,
      maximumTokens: (limits, contextLength) =>
        ToolLoop.maximumTokens(limits, contextLength) + (limits.maxTurns + 1) * asides * contextLength,
      make: (environment) => (depth === 0 ? ToolLoop.agent.make(environment) : planned(environment, { width, depth }))
    }
  }
}

const planned = ({ config, toolTexts }: Environment, { depth, width }: Readonly<Record<"depth" | "width", number>>) => {
  const grammar = ActionParser.grammar(config.tools)

  /** Carries out a turn. Its value is that of its best continuation. */
  function* ahead(
    conversation: Conversation,
    before: ReadonlyArray<Message>,
    way: ReadonlyArray<number>,
    { action, text }: Pick<Draft, "action" | "text">
  ): Program<Way> {
    if (action.kind === "invalid") return { result: config.texts.invalidAction, value: -1 }
    const isCall = action.kind !== "answer"
    if (isCall && conversation.turns.length + way.length > config.maxTurns) return { result: "", value: -1 }
    const result = isCall ? yield* ToolLoop.consult(conversation, action) : ""
    const after = [...before, said(text), ...(isCall ? [shown(conversation.excerpt(result))] : [])]
    if (!isCall || way.length === depth) return { result, value: yield* valueOf(conversation, after, way) }
    let value = -1
    for (let next = 0; next < width; next++) {
      const further = [...way, next]
      const written = (yield* conversation.aside(`ahead-${further.join(".")}`, after, grammar.stop)) ?? ""
      const end = yield* ahead(conversation, after, further, { text: written, action: grammar.parse(written) })
      value = Math.max(value, end.value)
    }
    return { result, value }
  }

  return function* (conversation: Conversation): Program {
    const { instruction, question } = conversation.episode
    const opening = Prompt.messages(instruction, question, config, { tools: toolTexts })
    for (;;) {
      const past = conversation.turns.flatMap(({ observation, text }) => [said(text), shown(observation ?? "")])
      const ways: Array<Way & Draft> = []
      for (const [at, draft] of (yield* conversation.drafts(width, grammar)).entries())
        ways.push({ ...draft, ...(yield* ahead(conversation, [...opening, ...past], [at], draft)) })
      const { action, result, take } = ways.reduce((best, way) => (way.value > best.value ? way : best))
      take()
      const ending = ToolLoop.over(conversation, action, config.maxTurns)
      if (ending !== null) return ending
      yield* conversation.show(result)
    }
  }
}

/** What the policy says that a conversation is worth, from 0 to 10. */
function* valueOf(
  conversation: Conversation,
  messages: ReadonlyArray<Message>,
  way: ReadonlyArray<number>
): Program<number> {
  const asked = messages.at(-1)?.role === "user" ? Prompt.added(messages, request) : [...messages, shown(request)]
  const text = (yield* conversation.aside(`value-${way.join(".")}`, asked, [])) ?? ""
  const [number = "0"] = /\d+(?:\.\d+)?/u.exec(text) ?? []
  return Math.min(10, Number(number))
}

// An alias, which declarations can write out, where an interface has no name.
type Parameters = {
  readonly [name: string]: number | null
  readonly width: number | null
  readonly depth: number | null
}

/** What a turn led to, and what that is worth. */
interface Way {
  readonly result: string
  readonly value: number
}

/** How good an end is. */
export const request = "How good is this as work on the question, from 0 to 10? Write the number alone."

const said = (content: string): Message => ({ role: "assistant", content })

const shown = (content: string): Message => ({ role: "user", content })

/** The texts outside the conversation for one turn: drafts of each length, and a value of each end. */
const asidesOf = (width: number, depth: number): number =>
  depth === 0 ? 0 : Arr.range(1, depth).reduce((sum, length) => sum + width ** length, width ** depth)

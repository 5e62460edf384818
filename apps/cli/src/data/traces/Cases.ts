/** Cases from calls of models. */
import type { Question } from "@inspo/domain"
import { Array, Result } from "effect"
import type { Call, Message, Records } from "./Call.ts"

/** A row of a file of cases. Calls of one session, or of one trace without a session, are in the same half of a search. */
export interface Case {
  readonly input: string
  readonly conversation?: ReadonlyArray<Question.Message>
  readonly output: string
  readonly scores?: Readonly<Record<string, number>>
  readonly feedback?: string
  readonly session: string
}

/** Why a call is no case. */
export const reasons = {
  unrecorded: "the export does not hold their messages",
  unasked: "their messages end with none of the user, and they do not continue another call",
  notText: "they hold something besides text",
  unanswered: "neither they nor what continues them have a text as their answer",
  low: "a score is below what was asked for, or missing"
} as const

export interface Dropped {
  readonly call: Call
  readonly reason: keyof typeof reasons
}

export interface Found {
  readonly cases: ReadonlyArray<Case>
  readonly dropped: ReadonlyArray<Dropped>
  /** The different texts of the system. */
  readonly prompts: ReadonlyArray<string>
}

/**
 * A call that ends with a message of the user is a case. Its output is that of the longest call of the trace that continues it without the
 * user, such as after the results of tools.
 */
export const of = ({ calls, scores, sessions }: Records, least: Readonly<Record<string, number>>): Found => {
  const sessionOf = new Map(sessions)
  const caseOf = ({ answer, calls, earlier, input }: Turn): Result.Result<Case, Dropped> => {
    const [call] = calls
    const ids = new Set(calls.map(({ id }) => id))
    const own = scores.filter((score) => score.trace === call.trace && (score.call === null || ids.has(score.call)))
    const values = Object.fromEntries(own.map(({ name, value }) => [name, value]))
    if (Object.entries(least).some(([name, bound]) => !((values[name] ?? -Infinity) >= bound)))
      return Result.fail({ call, reason: "low" })
    const feedback = own.flatMap(({ comment }) => comment?.trim() || [])
    return Result.succeed({
      input,
      ...(earlier.length === 0 ? {} : { conversation: earlier }),
      output: answer,
      ...(own.length === 0 ? {} : { scores: values }),
      ...(feedback.length === 0 ? {} : { feedback: feedback.join("\n") }),
      session: call.session ?? sessionOf.get(call.trace) ?? call.trace
    })
  }
  const turns = [...Map.groupBy(calls, ({ trace }) => trace).values()].flatMap(turnsOf)
  const [cases, dropped] = Array.separate(turns.map(Result.flatMap(caseOf)))
  const system = calls.flatMap(({ messages }) => (messages ?? []).filter(isSystem).map(({ content }) => content ?? ""))
  return { cases, dropped, prompts: [...new Set(system)] }
}

/** A question of a user with its answer, and the calls that led to it. */
interface Turn {
  readonly calls: readonly [Call, ...ReadonlyArray<Call>]
  readonly earlier: ReadonlyArray<Question.Message>
  readonly input: string
  readonly answer: string
}

/** The turns of one trace, each once. */
const turnsOf = (calls: ReadonlyArray<Call>): ReadonlyArray<Result.Result<Turn, Dropped>> => {
  const talks = calls.map((call) => ({ call, talk: (call.messages ?? []).filter((message) => !isSystem(message)) }))
  const starts = Map.groupBy(
    talks.filter(({ talk }) => talk.at(-1)?.role === "user"),
    ({ talk }) => JSON.stringify(talk)
  )
  const first = [...starts.values()].flatMap(([start]) => start ?? [])
  const others = talks.filter(({ talk }) => talk.at(-1)?.role !== "user")
  const loose = others.filter((one) => !first.some((start) => continues(one.talk, start.talk)))
  return [
    ...loose.map(({ call }) => drop(call, call.messages === null ? "unrecorded" : "unasked")),
    ...first.map(({ call, talk }) => {
      const spoken = talk.flatMap(({ content, role }) =>
        role === "user" || role === "assistant" ? [{ role, content } as const] : []
      )
      const texts = spoken.flatMap(({ content, role }) => (content === null ? [] : [{ role, content }]))
      if (texts.length < spoken.length) return drop(call, "notText")
      const later = talks.filter((one) => one.call !== call && continues(one.talk, talk))
      const all = [{ call, talk }, ...later].toSorted((a, b) => a.talk.length - b.talk.length)
      const answer = all.findLast((one) => one.call.answer !== null)?.call.answer ?? null
      const input = texts.at(-1)?.content ?? ""
      if (answer === null || input.trim() === "") return drop(call, "unanswered")
      const earlier = texts.slice(0, -1).filter(({ content }) => content.trim() !== "")
      return Result.succeed({ calls: [call, ...later.map((one) => one.call)] as const, earlier, input, answer })
    })
  ]
}

const drop = (call: Call, reason: Dropped["reason"]): Result.Result<never, Dropped> => Result.fail({ call, reason })

/** Whether messages are those of a turn with others after them, none of them of the user. */
const continues = (talk: ReadonlyArray<Message>, start: ReadonlyArray<Message>): boolean =>
  talk.slice(start.length).every(({ role }) => role !== "user") &&
  start.every(({ content, role }, at) => talk[at]?.role === role && talk[at]?.content === content)

const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer"

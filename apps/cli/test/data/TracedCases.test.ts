import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { merged, type Records } from "../../src/data/traces/Call.ts"
import * as Cases from "../../src/data/traces/Cases.ts"
import * as Langfuse from "../../src/data/traces/Langfuse.ts"
import * as Otlp from "../../src/data/traces/Otlp.ts"

/** A conversation of a user with an agent that uses a tool, and may speak while it does; each turn is a trace, or all are one. */
const Talk = Schema.Struct({
  isOneTrace: Schema.Boolean,
  speaks: Schema.Boolean,
  session: Schema.NullOr(Schema.Literals(["s1", "s2"])),
  turns: Schema.NonEmptyArray(
    Schema.Struct({
      user: Schema.NonEmptyString.check(Schema.isPattern(/^\S[^[{]*$/u)),
      tools: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 })),
      answer: Schema.NullOr(Schema.NonEmptyString.check(Schema.isPattern(/^\S[^[{]*$/u))),
      score: Schema.NullOr(Schema.Literals([0, 0.5, 1]))
    })
  )
})
type Talk = typeof Talk.Type

interface Turn {
  readonly trace: string
  readonly session: string | null
  readonly score: number | null
  readonly calls: ReadonlyArray<{
    readonly id: string
    readonly messages: ReadonlyArray<Said>
    readonly output: Said | null
  }>
}

/** `tool` and `call` stand for a result of a tool and a call of one. */
interface Said {
  readonly role: "user" | "assistant" | "tool" | "call"
  readonly text: string
}

const traceOf = ({ isOneTrace }: Talk, talk: number, turn: number): string => `t${talk}${isOneTrace ? "" : `-${turn}`}`

/** What a trace was scored applies to each of its turns, so that a trace of several turns has no scores here. */
const scoreOf = ({ isOneTrace }: Talk, score: number | null): number | null => (isOneTrace ? null : score)

const turnsOf = (given: Talk, talk: number): ReadonlyArray<Turn> => {
  const { session, speaks, turns } = given
  let known: ReadonlyArray<Said> = []
  return turns.map(({ answer, score, tools, user }, index) => {
    const trace = traceOf(given, talk, index)
    known = [...known, { role: "user", text: user }]
    const calls = Array.from({ length: tools + 1 }, (_, step) => {
      const messages = known
      const output: Said | null =
        step < tools
          ? { role: "call", text: speaks ? "One moment." : "" }
          : answer === null
            ? null
            : { role: "assistant", text: answer }
      if (output !== null)
        known = [...known, output, ...(step < tools ? [{ role: "tool", text: "found" } as const] : [])]
      return { id: `${talk}-${index}-${step}`, messages, output }
    })
    return { trace, session, score: scoreOf(given, score), calls }
  })
}

const expected = (given: Talk, talk: number): ReadonlyArray<Cases.Case> => {
  const { session, speaks, turns } = given
  let known: ReadonlyArray<{ readonly role: "user" | "assistant"; readonly content: string }> = []
  return turns.flatMap(({ answer, score: own, tools, user }, index) => {
    const score = scoreOf(given, own)
    const conversation = known
    known = [...known, { role: "user", content: user }]
    if (speaks)
      known = [
        ...known,
        ...Array.from({ length: tools }, () => ({ role: "assistant", content: "One moment." }) as const)
      ]
    if (answer === null) return []
    known = [...known, { role: "assistant", content: answer }]
    return [
      {
        input: user,
        ...(conversation.length === 0 ? {} : { conversation }),
        output: answer,
        ...(score === null ? {} : { scores: { good: score }, feedback: `why ${score}` }),
        session: session ?? traceOf(given, talk, index)
      }
    ]
  })
}

const parts = ({ role, text }: Said) =>
  role === "call"
    ? {
        role: "assistant",
        parts: [
          { type: "reasoning", content: "hm" },
          ...(text === "" ? [] : [{ type: "text", content: text }]),
          { type: "tool_call", name: "search" }
        ]
      }
    : role === "tool"
      ? { role: "user", parts: [{ type: "tool_call_response", result: text }] }
      : { role, parts: [{ type: "text", content: text }] }

const anyValue = (value: unknown): object =>
  Array.isArray(value)
    ? { arrayValue: { values: value.map(anyValue) } }
    : typeof value === "object" && value !== null
      ? { kvlistValue: { values: Object.entries(value).map(([key, one]) => ({ key, value: anyValue(one) })) } }
      : typeof value === "number"
        ? { doubleValue: value }
        : { stringValue: String(value) }

const otlp =
  (write: (value: unknown) => object) =>
  (turns: ReadonlyArray<Turn>): ReadonlyArray<unknown> =>
    turns.map(({ calls, score, session, trace }) => ({
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: calls.map(({ id, messages, output }, index) => ({
                traceId: trace,
                spanId: id,
                name: "chat",
                startTimeUnixNano: "1",
                attributes: [
                  { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
                  { key: "gen_ai.system_instructions", value: write([{ type: "text", content: "Be kind." }]) },
                  { key: "gen_ai.input.messages", value: write(messages.map(parts)) },
                  ...(output === null ? [] : [{ key: "gen_ai.output.messages", value: write([parts(output)]) }]),
                  ...(session === null ? [] : [{ key: "gen_ai.conversation.id", value: anyValue(session) }])
                ],
                events:
                  score === null || index > 0
                    ? []
                    : [
                        {
                          name: "gen_ai.evaluation.result",
                          attributes: [
                            { key: "gen_ai.evaluation.name", value: anyValue("good") },
                            { key: "gen_ai.evaluation.score.value", value: anyValue(score) },
                            { key: "gen_ai.evaluation.explanation", value: anyValue(`why ${score}`) }
                          ]
                        }
                      ]
              }))
            }
          ]
        }
      ]
    }))

const message = ({ role, text }: Said) =>
  role === "call" ? { role: "assistant", content: text || null, tool_calls: [{ id: "1" }] } : { role, content: text }

const observation = ({ session, trace }: Turn, { id, messages, output }: Turn["calls"][number]) => ({
  id,
  traceId: trace,
  type: "GENERATION",
  sessionId: session,
  input: [{ role: "system", content: "Be kind." }, ...messages.map(message)],
  output: output === null ? null : message(output)
})

const score = ({ score, trace }: Turn): ReadonlyArray<object> =>
  score === null
    ? []
    : [{ id: `s-${trace}`, traceId: trace, name: "good", dataType: "NUMERIC", value: score, comment: `why ${score}` }]

const snake = (row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [
      key.replace(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`),
      key === "input" ? JSON.stringify(value) : value
    ])
  )

const rows = (turns: ReadonlyArray<Turn>): ReadonlyArray<object> =>
  turns.flatMap((turn) => [...turn.calls.map((call) => observation(turn, call)), ...score(turn)])

/** The same calls as each exporter writes them. */
const exports: Readonly<Record<string, (turns: ReadonlyArray<Turn>) => ReadonlyArray<unknown>>> = {
  "OTLP with JSON in texts": otlp((value) => ({ stringValue: JSON.stringify(value) })),
  "OTLP with structured values": otlp(anyValue),
  "pages of the API of Langfuse": (turns) => [{ data: rows(turns), meta: { cursor: null } }],
  "rows of Langfuse in a bucket": (turns) => rows(turns).map(snake),
  "traces of the page of Langfuse": (turns) =>
    turns.map((turn) => ({
      id: turn.trace,
      sessionId: turn.session,
      observations: turn.calls.map((call) => ({ ...observation(turn, call), sessionId: undefined })),
      scores: score(turn)
    }))
}

const recordsOf = (documents: ReadonlyArray<unknown>): Records =>
  merged(
    documents.map((document) => {
      const json: unknown = JSON.parse(JSON.stringify(document))
      const found = Otlp.read(json) ?? Langfuse.read(json)
      assert.isNotNull(found)
      return found ?? {}
    })
  )

describe.each(Object.entries(exports).map(([name, write]) => ({ name, write })))("cases of $name", ({ write }) => {
  it.prop("are the turns of users with their final answers", [Schema.NonEmptyArray(Talk)], ([talks]) => {
    const { cases, dropped, prompts } = Cases.of(recordsOf(write(talks.flatMap(turnsOf))), {})
    assert.deepStrictEqual(cases, talks.flatMap(expected))
    assert.deepStrictEqual(prompts, ["Be kind."])
    assert.strictEqual(
      dropped.length,
      talks.flatMap(({ turns }) => turns).filter(({ answer }) => answer === null).length
    )
    assert.isTrue(dropped.every(({ reason }) => reason === "unanswered"))
  })

  it.prop("have the scores that are asked for", [Schema.NonEmptyArray(Talk)], ([talks]) => {
    const { cases } = Cases.of(recordsOf(write(talks.flatMap(turnsOf))), { good: 0.5 })
    assert.deepStrictEqual(
      cases,
      talks.flatMap(expected).filter(({ scores }) => (scores?.["good"] ?? 0) >= 0.5)
    )
  })
})

describe("a call that is no case", () => {
  const call = { trace: "t", id: "c", session: null, answer: "A" }
  const user = { role: "user", content: "Q" }
  it.each([
    { reason: "unrecorded", messages: null },
    { reason: "unasked", messages: [user, { role: "assistant", content: "Hm" }] },
    { reason: "notText", messages: [{ role: "user", content: null }, user] },
    { reason: "unanswered", messages: [{ role: "user", content: " " }] }
  ])("says why: $reason", ({ messages, reason }) => {
    const { cases, dropped } = Cases.of(merged([{ calls: [{ ...call, messages }] }]), {})
    assert.deepStrictEqual(cases, [])
    assert.deepStrictEqual(
      dropped.map((one) => one.reason),
      [reason]
    )
  })
})

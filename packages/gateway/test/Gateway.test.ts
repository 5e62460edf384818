import { assert, describe, it } from "@effect/vitest"
import { RandomStream, Trajectory } from "@inspo/domain"
import { Engine, type TemplateMessage } from "@inspo/engine"
import { type ChatCall, Gateway, layer } from "@inspo/gateway"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Effect, Fiber, Layer, Schema } from "effect"
import * as Model from "./support/Model.ts"

const limits = { maxCalls: 100, maxPromptTokens: 2_000, maxResponseTokens: 12, temperature: 1, topP: 1, tools: [] }
const gateway = (options: Partial<typeof limits> = {}) =>
  layer({ ...limits, ...options }).pipe(Layer.provideMerge(Model.layer()))

const ask = (messages: ReadonlyArray<TemplateMessage>, change: Partial<ChatCall> = {}): ChatCall => ({
  messages,
  tools: [],
  n: 1,
  maxTokens: null,
  stop: [],
  keepsStop: false,
  ...change
})

const user = (content: string): TemplateMessage => ({ role: "user", content })
const assistant = (content: string): TemplateMessage => ({ role: "assistant", content })
const episode = { seed: "seed", instruction: { text: "be brief" } }

/** What an agent does next with one of its conversations. */
const Move = Schema.Struct({
  conversation: Schema.Natural,
  kind: Schema.Literals(["go on", "repeat", "forget", "prefill", "branch", "strip"]),
  text: Schema.Literals(["who is it?", "and then", "x"]),
  stop: Schema.Literals(["", "a", "the"]),
  n: Schema.Literals([1, 2])
})
const Moves = Schema.Array(Move).check(Schema.isMaxLength(8))

type Talk = ReadonlyArray<TemplateMessage>

/** The conversation that a move makes of one that ended with an answer. */
const moved = (talk: Talk, { kind, text }: typeof Move.Type): Talk => {
  const said = talk.at(-1)?.content ?? ""
  switch (kind) {
    case "repeat":
      return talk.slice(0, -1)
    case "forget":
      return [...talk.slice(0, 1), ...talk.slice(3), user(text)]
    case "prefill":
      return [...talk.slice(0, -1), assistant(`${said}${text}`)]
    case "branch":
      return [...talk.slice(0, 1), user(text)]
    case "strip":
      return [...talk.slice(0, -1), assistant(said.trim()), user(text)]
    default:
      return [...talk, user(text)]
  }
}

/** Plays moves one after another. */
const play = Effect.fnUntraced(function* (moves: typeof Moves.Type, own = episode) {
  const { call, open } = yield* Gateway
  const { close, name } = yield* open(own)
  const talks: Array<Talk> = [[user(`${own.instruction.text}. who?`)]]
  let sampled = 0
  const say = Effect.fnUntraced(function* (talk: Talk, change: Partial<ChatCall>) {
    const { choices } = yield* call(name, ask(talk, change))
    for (const { content, tokens } of choices) {
      sampled += tokens.length
      const last = talk.at(-1)
      talks.push(
        last?.role === "assistant"
          ? [...talk.slice(0, -1), assistant(last.content + content)]
          : [...talk, assistant(content)]
      )
    }
  })
  yield* say(talks[0] ?? [], {})
  for (const move of moves)
    yield* say(moved(talks[1 + (move.conversation % (talks.length - 1))] ?? [], move), {
      stop: move.stop === "" ? [] : [move.stop],
      n: move.n
    })
  return { ...(yield* close), sampled }
})

describe("Gateway", () => {
  it.effect.prop(
    "each sampled token is an action token once, with the log-probability that the policy gives it in its context",
    { moves: Moves },
    ({ moves }) =>
      Effect.gen(function* () {
        const { recording, sampled } = yield* play(moves)
        const segments = Trajectory.segments(recording)
        assert.strictEqual(Trajectory.actionTokens(segments), sampled)
        const scores = yield* (yield* Engine).score("current", segments)
        for (const [index, { logprobs, mask }] of segments.entries())
          for (const [at, isAction] of mask.entries())
            if (isAction === 1) assert.closeTo(logprobs[at] ?? NaN, scores[index]?.[at] ?? NaN, 1e-9)
            else assert.strictEqual(logprobs[at], 0)
      }).pipe(Effect.provide(gateway()))
  )

  it.effect.prop(
    "records the same segments whatever the order of calls, and in the same order where calls are made at once",
    {
      texts: Schema.Array(Schema.Literals(["who?", "what?", "when?", "who?"])).check(
        Schema.isMinLength(1),
        Schema.isMaxLength(6)
      )
    },
    ({ texts }) =>
      Effect.gen(function* () {
        const { call, open } = yield* Gateway
        const recorded = Effect.fnUntraced(function* (order: ReadonlyArray<string>, concurrency: number) {
          const { close, name } = yield* open(episode)
          const first = yield* call(name, ask([user("be brief.")]))
          const talk = [user("be brief."), assistant(first.choices[0]?.content ?? "")]
          yield* Effect.forEach(order, (text) => call(name, ask([...talk, user(text)])), { concurrency })
          return (yield* close).recording
        })
        const one = yield* recorded(texts, 1)
        assert.sameDeepMembers(
          [...Trajectory.segments(yield* recorded(texts.toReversed(), 1))],
          [...Trajectory.segments(one)]
        )
        assert.deepEqual(yield* recorded(texts, 6), yield* recorded(texts.toReversed(), 6))
      }).pipe(Effect.provide(gateway()))
  )

  it.effect("keeps a conversation that goes on in one segment, and begins one where its past is changed", () =>
    Effect.gen(function* () {
      const { call, open } = yield* Gateway
      const { close, name } = yield* open(episode)
      const write = Effect.fnUntraced(function* (talk: Talk, change: Partial<ChatCall> = {}) {
        const { choices } = yield* call(name, ask(talk, change))
        return choices[0]?.content ?? ""
      })
      const talk = [user("be brief. who?"), assistant(yield* write([user("be brief. who?")]))]
      const second = [...talk, user("and then?"), assistant(yield* write([...talk, user("and then?")]))]
      const begun = yield* write([...second, user("go on"), assistant("it is")])
      yield* write([...second, user("go on"), assistant(`it is${begun} so`)])
      const whole = Trajectory.segments((yield* close).recording)
      assert.strictEqual(whole.length, 1)

      const again = yield* open(episode)
      for (const messages of [
        talk.slice(0, 1),
        [...talk, user("and then?")],
        [user("be brief. what?"), ...talk.slice(1), user("x")]
      ])
        yield* call(again.name, ask(messages))
      const { recording } = yield* again.close
      assert.strictEqual(Trajectory.segments(recording).length, 2)
      assert.deepEqual(
        recording.transcript.map(({ prompt }) => prompt === undefined),
        [true, true, false]
      )
    }).pipe(Effect.provide(gateway({ maxResponseTokens: 3 })))
  )

  it.effect("knows a message that its agent trimmed, by its context where another has the same text", () =>
    Effect.gen(function* () {
      const { call, open } = yield* Gateway
      const { close, name } = yield* open(episode)
      for (const talk of [["a"], ["b"], ["a", "c"], ["b", "d"]])
        yield* call(
          name,
          ask(talk.flatMap((text, index) => [...(index === 0 ? [] : [assistant("so")]), user(`be brief ${text}`)]))
        )
      const { recording } = yield* close
      assert.deepEqual(
        Trajectory.segments(recording).map(({ mask }) => mask.filter((isAction) => isAction === 1).length),
        [12, 12]
      )
    }).pipe(Effect.provide(layer(limits).pipe(Layer.provide(ScriptedEngine.layer(() => " so \n")))))
  )

  it.effect("a call that its agent gave up, and makes again, is as if it was made once", () => {
    const talk = [user("be brief. who?")]
    const answered = (isCut: boolean) =>
      Effect.gen(function* () {
        const { call, open } = yield* Gateway
        const { close, name } = yield* open(episode)
        if (isCut) {
          const cut = yield* Effect.forkChild(call(name, ask(talk)), { startImmediately: true })
          yield* Fiber.interrupt(cut)
        }
        const { choices } = yield* call(name, ask(talk))
        yield* call(name, ask([...talk, assistant(choices[0]?.content ?? ""), user("and then")]))
        return yield* close
      }).pipe(Effect.provide(gateway({ maxCalls: 2 })))
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* answered(true), yield* answered(false))
    })
  })

  it.effect("gives a repeated call another draw", () =>
    Effect.gen(function* () {
      const { call, open } = yield* Gateway
      const { name } = yield* open(episode)
      const drawn = yield* Effect.replicateEffect(call(name, ask([user("be brief")])), 8)
      assert.isAbove(new Set(drawn.map(({ choices }) => choices[0]?.content)).size, 1)
    }).pipe(Effect.provide(gateway()))
  )

  it.effect(
    "puts the instruction where the agent has its mark, else before its system message, unless it has the text",
    () =>
      Effect.gen(function* () {
        const { call, open } = yield* Gateway
        const { decode } = (yield* Engine).tokenizer
        for (const [messages, seen] of [
          [[user("who? {{instruction}}")], "U:who? be brief.A:"],
          [[{ role: "system", content: "you help" }, user("who?")], "S:be briefyou help.U:who?.A:"],
          [[user("who?")], "S:be brief.U:who?.A:"],
          [[user("be brief. who?")], "U:be brief. who?.A:"]
        ] as const) {
          const { close, name } = yield* open(episode)
          yield* call(name, ask(messages))
          const { recording } = yield* close
          assert.strictEqual(decode(recording.prompt.filter((token) => token >= 0)), seen)
        }
      }).pipe(Effect.provide(gateway()))
  )

  it.effect("refuses calls beyond the limits, and those of an episode that has ended", () =>
    Effect.gen(function* () {
      const { call, open } = yield* Gateway
      const { close, name } = yield* open(episode)
      yield* call(name, ask([user("be brief")]))
      const long = yield* Effect.flip(call(name, ask([user(`be brief ${"x".repeat(100)}`)])))
      assert.deepEqual([long.status, long.code], [400, "context_length_exceeded"])
      const many = yield* Effect.flip(call(name, ask([user("be brief")])))
      assert.deepEqual([many.status, many.code], [400, "turns_exhausted"])
      const { limit, recording } = yield* close
      assert.strictEqual(limit, "context-exhausted")
      assert.strictEqual(recording.transcript.length, 1)
      assert.strictEqual((yield* Effect.flip(call(name, ask([user("be brief")])))).status, 404)
    }).pipe(Effect.provide(gateway({ maxCalls: 2, maxPromptTokens: 50 })))
  )
})

describe("10,000 episodes", { tags: "deep" }, () => {
  const kinds = ["go on", "repeat", "forget", "prefill", "branch", "strip"] as const
  const texts = ["who is it?", "and then", "x"] as const

  /** An episode with an instruction of its own, of which some are played twice with other moves. */
  const playOne = (index: number) => {
    const stream = RandomStream.make(index, ["moves"])
    const moves = Array.from({ length: stream.nextIntBetween(0, 5) }, (): typeof Move.Type => ({
      conversation: stream.nextIntBetween(0, 7),
      kind: kinds[stream.nextIntBetween(0, kinds.length - 1)] ?? "repeat",
      text: texts[stream.nextIntBetween(0, texts.length - 1)] ?? "x",
      stop: stream.next() < 0.5 ? "" : "a",
      n: stream.next() < 0.5 ? 1 : 2
    }))
    const own = `be ${Array.from(String(index), (digit) => "abcdefghij".charAt(Number(digit))).join("")}`
    return play(moves, { seed: `${index >> 1}`, instruction: { text: index % 3 === 0 ? own : "be brief" } })
  }
  const playAll = (concurrency: number) =>
    Effect.forEach(
      Array.from({ length: 10_000 }, (_, index) => index),
      playOne,
      { concurrency }
    ).pipe(Effect.provide(gateway()))

  it.effect(
    "that are open at once are each recorded as if they were alone",
    () =>
      Effect.gen(function* () {
        const [together, alone] = [yield* playAll(256), yield* playAll(1)]
        together.forEach((one, index) => assert.deepStrictEqual(one, alone[index], `episode ${index}`))
      }),
    120_000
  )
})

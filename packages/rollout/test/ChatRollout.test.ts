import { assert, describe, it } from "@effect/vitest"
import { type Chat, Spent, Trajectory } from "@inspo/domain"
import { Search } from "@inspo/retrieval"
import { layerExactMatch } from "@inspo/reward"
import { ChatPolicy, ChatRollout, type CollectOptions, Observation, Rollout, type RolloutOptions } from "@inspo/rollout"
import { ByteTokenizer } from "@inspo/rollout/testing"
import { Effect, Layer, Schema } from "effect"
import * as IterResearch from "../src/agents/IterResearch.ts"
import { cut } from "../src/internal/Cut.ts"
import { instruction, obliging, play, question } from "./support/Play.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** What a policy writes, turn by turn, in pieces. */
const turns = Schema.Array(
  Schema.Array(
    Schema.Literals([
      "<think> a</think>",
      "<search> q</search>",
      "<answer> Ostrel Bay</answer>",
      "<search>",
      "</answer>",
      " so."
    ])
  ).check(Schema.isMaxLength(4))
).check(Schema.isMinLength(1), Schema.isMaxLength(6))

type Written = Pick<ChatPolicy.ChatAnswer, "calls" | "text">
type Write = (messages: ReadonlyArray<Chat.ChatMessage>) => Effect.Effect<string | Written, ChatPolicy.ChatFailure>

const textOf = (message: Chat.ChatMessage) =>
  message.role === "tool" ? message.results.map(({ text }) => text).join("") : message.text
const sizeOf = (messages: ReadonlyArray<Chat.ChatMessage>) =>
  messages.reduce((sum, message) => sum + textOf(message).length, 0)

const countTokens = (text: string) => ByteTokenizer.tokenizer.encode(text).length

/** Plays episodes with a chat model, and gives the conversations that it was asked to continue. */
const chat = <E = never>(
  write: Write,
  setup: { readonly config?: RolloutOptions; readonly episodes?: number } = {},
  options: CollectOptions<E> = {}
) => {
  const asked: Array<ReadonlyArray<Chat.ChatMessage>> = []
  const requests: Array<ChatPolicy.ChatRequest> = []
  const policy = ChatPolicy.ChatPolicy.of({
    profile: { name: "chat", model: "m", fingerprint: "chat:m", contextLength: 4096, concurrency: 3 },
    atMost: () => ({ calls: 1, tokens: 100, usd: 1 }),
    countTokens,
    write: (request) => {
      const { messages } = request
      asked.push(messages)
      requests.push(request)
      return Effect.map(write(messages), (wrote): ChatPolicy.ChatAnswer => {
        const written = typeof wrote === "string" ? { text: wrote } : wrote
        const input = sizeOf(messages)
        const output = written.text.length
        return { ...written, input, output, spent: { calls: 1, tokens: input + output, usd: 1 } }
      })
    }
  })
  const episodes = Array.from({ length: setup.episodes ?? 1 }, (_, i) => ({
    id: Trajectory.TrajectoryId.make(`train/1/${i}/0`),
    instruction,
    question,
    seed: String(i)
  }))
  const services = ChatRollout.layer(setup.config ?? {}).pipe(
    Layer.provide([
      Layer.succeed(ChatPolicy.ChatPolicy, policy),
      Layer.succeed(Search, { search: obliging }),
      layerExactMatch
    ])
  )
  return Rollout.use(({ collect }) => collect(episodes, options)).pipe(
    Effect.map((trajectories) => ({ trajectories, asked, requests })),
    Effect.provide(services)
  )
}

const replies = (messages: ReadonlyArray<Chat.ChatMessage>) =>
  messages.filter(({ role }) => role === "assistant").length

describe("A rollout of a chat model", () => {
  it.effect.prop(
    "reads, calls and shows what the same policy on an engine would",
    { turns, agent: Schema.Literals(["direct", "rag", "search-r1"]) },
    ({ agent, turns }) =>
      Effect.gen(function* () {
        const texts = turns.map((some) => some.join(""))
        const config = { agent, maxTurns: 3 }
        const engine = yield* play((_, { seed }) => texts[Number(seed.split("/").at(-1))] ?? "", { config })
        const { trajectories } = yield* chat((messages) => Effect.succeed(texts[replies(messages)] ?? ""), { config })
        const seen = ({ answer, finishReason, reward, toolCalls, transcript }: Trajectory.Trajectory) => ({
          answer,
          finishReason,
          reward,
          toolCalls,
          transcript: transcript.map((turn) => ({ ...turn, text: turn.text.replace("<|end|>", "") }))
        })
        assert.deepStrictEqual(trajectories.map(seen), engine.trajectories.map(seen))
      })
  )

  it.effect("takes turns with the model, and gives the sizes that its provider counts", () =>
    Effect.gen(function* () {
      const { asked, trajectories } = yield* chat((messages) =>
        Effect.succeed(messages.length === 1 ? "<search> mayor</search> And then?" : "<answer> Ostrel Bay</answer>")
      )
      const [first = [], second = []] = asked
      assert.deepStrictEqual(second, [
        ...first,
        { role: "assistant", text: "<search> mayor</search>" },
        { role: "user", text: "<information> T: about mayor</information>" }
      ])
      const [one] = trajectories
      assert.strictEqual(one?.promptTokens, sizeOf(first))
      assert.strictEqual(one?.responseTokens, sizeOf(second) + "<answer> Ostrel Bay</answer>".length - sizeOf(first))
      assert.deepStrictEqual([one?.prompt, one?.response, one?.reward], [[], [], 1])
    })
  )

  it.effect("sees the messages of the current segment alone, and is counted over all", () =>
    Effect.gen(function* () {
      const texts = [
        "<report> R.</report><search> mayor</search> And?",
        "<search> town</search>",
        "<answer> Ostrel Bay</answer>"
      ]
      let written = 0
      const config = { agent: "iter-research" } as const
      const { asked, trajectories } = yield* chat(() => Effect.sync(() => texts[written++] ?? ""), { config })
      const engine = yield* play((_, { seed }) => texts[Number(seed.split("/").at(-1))] ?? "", { config })
      const [one = assert.fail()] = trajectories
      assert.deepStrictEqual(one.transcript, engine.trajectories[0]?.transcript)
      assert.deepStrictEqual(
        asked.map((messages) => messages.map(textOf)),
        [
          [`Say it. Question: Where was the mayor born? ${IterResearch.request}`],
          ...one.transcript.slice(1).map(({ prompt }) => [prompt])
        ]
      )
      const all = asked.reduce((sum, messages) => sum + sizeOf(messages), 0) + texts.join("").length
      assert.deepStrictEqual(
        [one.promptTokens, one.responseTokens],
        [sizeOf(asked[0] ?? []), all - sizeOf(asked[0] ?? [])]
      )
      assert.deepStrictEqual([one.prompt, one.response, one.earlier], [[], [], undefined])
    })
  )

  it.effect.prop(
    "pays each call once, wherever it is stopped, and ends as if it was not",
    { stops: Schema.Array(between(0, 6)).check(Schema.isMaxLength(4)), episodes: between(1, 5), seed: between(0, 99) },
    ({ episodes, seed, stops }) =>
      Effect.gen(function* () {
        const write: Write = (messages) =>
          Effect.as(
            Effect.yieldNow,
            (seed + replies(messages)) % 3 === 2 ? "<answer> Ostrel Bay</answer>" : `<search> q${seed}</search>`
          )
        const config = { maxTurns: 4 }
        const whole = yield* chat(write, { config, episodes })
        const stored = new Map<string, ChatPolicy.ChatAnswer>()
        let made = 0
        const session = (most: number) => {
          let left = most
          return chat<"stopped">(
            write,
            { config, episodes },
            {
              makeChatCall: ({ key }, writing) => {
                const known = stored.get(key)
                if (known !== undefined) return Effect.succeed(known)
                if (left-- <= 0) return Effect.fail("stopped" as const)
                made += 1
                return Effect.tap(writing, (answer) => Effect.sync(() => stored.set(key, answer)))
              }
            }
          )
        }
        for (const stop of stops) yield* Effect.exit(session(stop))
        const { trajectories } = yield* session(Infinity)
        assert.deepStrictEqual(trajectories, whole.trajectories)
        assert.strictEqual(made, whole.asked.length)
      })
  )

  it.effect("fails an episode whose conversation is not accepted, and ends if no other would be", () =>
    Effect.gen(function* () {
      const failing = (ends: ChatPolicy.ChatFailure["ends"]) => () =>
        Effect.fail(new ChatPolicy.ChatFailure({ reason: "too long", ends, spent: Spent.nothing }))
      const { trajectories } = yield* chat(failing("episode"), { episodes: 2 })
      assert.deepStrictEqual(
        trajectories.map(({ failure, finishReason }) => [finishReason, failure]),
        [
          ["failed", "too long"],
          ["failed", "too long"]
        ]
      )
      const error = yield* Effect.flip(chat(failing("collection"), { episodes: 9 }))
      assert.strictEqual(error.message, "engine sample: too long")
    })
  )
})

/** A step of a policy, as it is written in tags and by a native call. */
const steps = {
  search: { tags: "<search> mayor</search>", name: "search", input: { input: "mayor" } },
  calculate: { tags: "<calculate> 2 * 3</calculate>", name: "calculate", input: { input: " 2 * 3" } },
  wrong: { tags: "<calculate> two</calculate>", name: "calculate", input: { input: "two" } }
} as const

const script = Schema.Struct({
  /** The calls of each message. */
  messages: Schema.Array(
    Schema.Array(Schema.Literals(["search", "calculate", "wrong"])).check(Schema.isMinLength(1), Schema.isMaxLength(3))
  ).check(Schema.isMaxLength(3)),
  thought: Schema.Literals(["", "Let me see.", "<think> Hm.</think>"]),
  answer: Schema.Literals(["Ostrel Bay", "<answer> Ostrel Bay</answer>", "nowhere", ""]),
  maxTurns: between(0, 6)
})

const callsOf = (kinds: (typeof script.Type)["messages"][number], message: number): ReadonlyArray<Chat.ToolCall> =>
  kinds.map((kind, index) => ({ id: `call-${message}-${index}`, name: steps[kind].name, input: steps[kind].input }))

describe("A policy that thinks aloud", () => {
  const thought = "Is it <answer> Trell</answer>? No."
  const answered = "<answer> Ostrel Bay</answer>"
  const forms = [
    `${thought}\n</think>\n\n${answered}`,
    `[THINK]${thought}[/THINK]${answered}`,
    `<|channel|>analysis<|message|>${thought}<|end|><|start|>assistant<|channel|>final<|message|>${answered}<|return|>`
  ]

  it.effect.each(forms)("answers after its thoughts: %s", (text) =>
    Effect.gen(function* () {
      const { trajectories } = yield* chat(() => Effect.succeed(text))
      assert.strictEqual(trajectories[0]?.reward, 1)
      assert.strictEqual(trajectories[0]?.transcript[0]?.text, answered)
    })
  )

  it.effect.each([`[THINK]${thought}`, `<|channel|>analysis<|message|>${thought}`, `<think>${thought}`])(
    "has no answer in thoughts that never end: %s",
    (text) =>
      Effect.gen(function* () {
        for (const agent of ["search-r1", "tool-calls"] as const) {
          const { trajectories } = yield* chat(() => Effect.succeed(text), { config: { agent } })
          assert.strictEqual(trajectories[0]?.transcript[0]?.action.kind, "invalid")
        }
      })
  )

  it.effect("keeps the thoughts that its instruction may ask for", () =>
    Effect.gen(function* () {
      const { trajectories } = yield* chat(() => Effect.succeed(`<think> a</think>${answered}`))
      assert.strictEqual(trajectories[0]?.transcript[0]?.text, `<think> a</think>${answered}`)
    })
  )
})

describe("A policy with native tool calls", () => {
  const tools = ["search", "calculate"]

  it.effect.prop(
    "does what it would do in tags, however many calls a message has",
    { script },
    ({ script: { answer, maxTurns, messages, thought } }) =>
      Effect.gen(function* () {
        const texts = [
          ...messages.flatMap((kinds) => kinds.map((kind, i) => (i === 0 ? thought : "") + steps[kind].tags)),
          answer === "Ostrel Bay" || answer === "nowhere" ? `<answer> ${answer}</answer>` : answer
        ]
        const tags = yield* chat((asked) => Effect.succeed(texts[replies(asked)] ?? ""), {
          config: { maxTurns, tools }
        })
        const native = yield* chat(
          (asked) => {
            const index = replies(asked)
            const kinds = messages[index]
            return Effect.succeed(
              kinds === undefined
                ? index === messages.length
                  ? answer
                  : ""
                : { text: thought, calls: callsOf(kinds, index) }
            )
          },
          { config: { maxTurns, tools, agent: "tool-calls" } }
        )
        const seen = ({ answer, finishReason, reward, toolCalls, transcript }: Trajectory.Trajectory) => ({
          answer,
          finishReason,
          reward,
          toolCalls,
          transcript
        })
        assert.deepStrictEqual(native.trajectories.map(seen), tags.trajectories.map(seen))
        // Every call has its result in the next message, and no message repeats what tags would show.
        for (const { messages: sent, tools: offered } of native.requests) {
          assert.deepStrictEqual(
            offered.map(({ name }) => name),
            tools
          )
          sent.forEach((message, index) => {
            if (message.role === "tool") return
            const next = sent[index + 1]
            assert.deepStrictEqual(
              next?.role === "tool" ? next.results.map(({ call }) => call) : [],
              message.calls ?? []
            )
          })
          assert.notInclude(sent.map(textOf).join(""), "<information>")
        }
      })
  )

  it.effect("is shown why arguments do not fit, and the tool is not called", () =>
    Effect.gen(function* () {
      const inputs = ["{ cut off", {}, { input: 7 }, ["mayor"]]
      const { requests, trajectories } = yield* chat(
        (asked) =>
          Effect.succeed(
            replies(asked) === 0
              ? {
                  text: "",
                  calls: [...inputs, { input: "mayor" }].map((input, i) => ({ id: `${i}`, name: "search", input }))
                }
              : "Ostrel Bay"
          ),
        { config: { maxTurns: 6, agent: "tool-calls" } }
      )
      const [one] = trajectories
      assert.deepStrictEqual([one?.toolCalls, one?.answer, one?.turns], [1, "Ostrel Bay", 6])
      const last = requests.at(-1)?.messages.at(-1)
      const results = last?.role === "tool" ? last.results.map(({ text }) => text) : []
      const object = "The search failed. The arguments must be a JSON object."
      const field = "The search failed. The arguments must have the field input, a text that is not empty."
      assert.deepStrictEqual(results, [object, field, field, object, "T: about mayor"])
    })
  )

  it.effect("is shown that a tool does not exist, and can continue", () =>
    Effect.gen(function* () {
      const { trajectories } = yield* chat(
        (asked) =>
          Effect.succeed(
            replies(asked) === 0
              ? { text: "", calls: [{ id: "0", name: "browse", input: {} }] }
              : "<think> So.</think> Ostrel Bay"
          ),
        { config: { agent: "tool-calls" } }
      )
      const [one] = trajectories
      assert.deepStrictEqual(
        one?.transcript.map(({ action }) => action.kind),
        ["invalid", "answer"]
      )
      assert.strictEqual(one?.transcript[1]?.text, "<think> So.</think><answer> Ostrel Bay</answer>")
      assert.strictEqual(one?.reward, 1)
    })
  )

  it.effect("needs a chat model", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(play(() => "", { config: { agent: "tool-calls" } }))
      assert.include(error.message, "tool-calls")
    })
  )
})

describe("A turn of a chat model", () => {
  it("ends where an engine would stop it", () => {
    assert.strictEqual(cut("<answer> a</answer> b</answer>", { stop: ["</answer>"] }), "<answer> a</answer>")
    const goesOn = (text: string) => (/<answer>[^<]*$/u.test(text) ? ["</answer>"] : [])
    assert.strictEqual(cut("<answer>J. S.</answer> So. T.", { stop: ["."], goesOn }), "<answer>J. S.</answer>")
    assert.strictEqual(cut("So. T.", { stop: [".", "?"], goesOn }), "So.")
    assert.strictEqual(cut("none", { stop: ["."], goesOn }), "none")
  })

  it.effect.prop(
    "is answered by an observation of at most the limit, cut at its end",
    { text: Schema.String, limit: between(0, 80) },
    ({ limit, text }) =>
      Effect.sync(() => {
        const shown = Observation.within(countTokens, text, limit)
        if (shown === null) return assert.isBelow(limit, countTokens("<information></information>"))
        assert.isAtMost(countTokens(shown), limit)
        const whole = Observation.make(ByteTokenizer.tokenizer, text, 10_000).text
        assert.isTrue(whole.startsWith(shown.slice(0, -"</information>".length)))
        return assert.isTrue(shown.endsWith("</information>"))
      })
  )
})

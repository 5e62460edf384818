import { assert, describe, it } from "@effect/vitest"
import { Spent, Trajectory } from "@inspo/domain"
import type { Message } from "@inspo/engine"
import { Search } from "@inspo/retrieval"
import { layerExactMatch } from "@inspo/reward"
import { type CollectOptions, Observation, Rollout, type RolloutConfig } from "@inspo/rollout"
import * as ChatRollout from "@inspo/rollout/ChatRollout"
import { type ChatAnswer, ChatFailure, ChatPolicy } from "@inspo/rollout/ChatPolicy"
import { tokenizer } from "@inspo/rollout/testing/ByteTokenizer"
import { Effect, Layer, Schema } from "effect"
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

type Write = (messages: ReadonlyArray<Message>) => Effect.Effect<string, ChatFailure>

const countTokens = (text: string) => tokenizer.encode(text).length

/** Plays episodes with a chat model, and gives the conversations that it was asked to continue. */
const chat = <E = never>(
  write: Write,
  setup: { readonly config?: Partial<RolloutConfig>; readonly episodes?: number } = {},
  options: CollectOptions<E> = {}
) => {
  const asked: Array<ReadonlyArray<Message>> = []
  const policy = ChatPolicy.of({
    profile: { name: "chat", model: "m", fingerprint: "chat:m", contextLength: 4096, concurrency: 3 },
    atMost: () => ({ calls: 1, tokens: 100, usd: 1 }),
    countTokens,
    write: (messages) => {
      asked.push(messages)
      return Effect.map(write(messages), (text): ChatAnswer => {
        const input = messages.reduce((sum, { content }) => sum + content.length, 0)
        return { text, input, output: text.length, spent: { calls: 1, tokens: input + text.length, usd: 1 } }
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
    Layer.provide([Layer.succeed(ChatPolicy, policy), Layer.succeed(Search, { search: obliging }), layerExactMatch])
  )
  return Rollout.use(({ collect }) => collect(episodes, options)).pipe(
    Effect.map((trajectories) => ({ trajectories, asked })),
    Effect.provide(services)
  )
}

const replies = (messages: ReadonlyArray<Message>) => messages.filter(({ role }) => role === "assistant").length

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
        { role: "assistant", content: "<search> mayor</search>" },
        { role: "user", content: "<information> T: about mayor</information>" }
      ])
      const [one] = trajectories
      const size = (messages: ReadonlyArray<Message>) => messages.reduce((sum, { content }) => sum + content.length, 0)
      assert.strictEqual(one?.promptTokens, size(first))
      assert.strictEqual(one?.responseTokens, size(second) + "<answer> Ostrel Bay</answer>".length - size(first))
      assert.deepStrictEqual([one?.prompt, one?.response, one?.reward], [[], [], 1])
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
        const stored = new Map<string, ChatAnswer>()
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
      const failing = (ends: ChatFailure["ends"]) => () =>
        Effect.fail(new ChatFailure({ reason: "too long", ends, spent: Spent.nothing }))
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
        const whole = Observation.make(tokenizer, text, 10_000).text
        assert.isTrue(whole.startsWith(shown.slice(0, -"</information>".length)))
        return assert.isTrue(shown.endsWith("</information>"))
      })
  )
})

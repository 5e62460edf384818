import { assert, describe, it } from "@effect/vitest"
import { Trajectory } from "@inspo/domain"
import { ByteTokenizer } from "@inspo/rollout/testing"
import { Effect, Schema } from "effect"
import { play } from "../support/Play.ts"

const { decode, encode } = ByteTokenizer.tokenizer
const asked = "<|user|> Say it. Question: Where was the mayor born?<|assistant|>"

/** Writes a text on from where its chunk begins: each chunk has its own part of the seed. */
const thinking =
  (thought: string, limit: number, carry: number) =>
  (_: string, { seed }: { readonly seed: string }) => {
    const chunk = Number(seed.split("/").at(-1))
    return thought.slice(chunk === 0 ? 0 : limit + (chunk - 1) * (limit - Math.floor(carry * limit)))
  }

const small = { name: "delethink", carry: 0.5, chunks: 4, head: 3 } as const

describe("delethink", () => {
  it.effect("sees in a later chunk only the question, the first tokens of the thought and the last", () =>
    Effect.gen(function* () {
      const thought = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH<answer> Ostrel Bay</answer>"
      const { prompts, requests, trajectories } = yield* play(thinking(thought, 40, 0.5), {
        config: { agent: small, maxResponseTokens: 40 }
      })
      assert.deepStrictEqual(prompts, [asked, `${asked}abc${thought.slice(23, 40)}`])
      assert.deepStrictEqual(
        requests.map(({ maxTokens }) => maxTokens),
        [40, 20]
      )
      const [one = assert.fail()] = trajectories
      assert.deepStrictEqual(
        one.transcript.map(({ action, prompt }) => [action.kind, prompt]),
        [
          ["think", undefined],
          ["answer", `Say it. Question: Where was the mayor born?\n\nabc${thought.slice(23, 40)}`]
        ]
      )
    })
  )

  it.effect.prop(
    "writes the thought once, in chunks of C and C − m tokens",
    {
      length: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200 })),
      carry: Schema.Literals([0, 0.25, 0.5, 0.9])
    },
    ({ carry, length }) =>
      Effect.gen(function* () {
        const thought = Array.from({ length }, (_, index) => "abcdefghij"[index % 10]).join("")
        const { requests, trajectories } = yield* play(thinking(thought, 40, carry), {
          config: { agent: { ...small, carry }, maxResponseTokens: 40 }
        })
        const kept = Math.floor(carry * 40)
        const [one = assert.fail()] = trajectories
        const chunks = Trajectory.segments(one)
        const most = 40 + 3 * (40 - kept)
        const all = chunks.map(({ response }) => decode(response)).join("")
        assert.strictEqual(all, `${thought}<|end|>`.slice(0, length >= most ? most : undefined))
        for (const [index, { mask, prompt, response }] of chunks.entries()) {
          assert.isTrue(mask.every((isAction) => isAction === 1))
          assert.isAtMost(response.length, index === 0 ? 40 : 40 - kept)
          assert.strictEqual(prompt.length, encode(asked).length + (index === 0 ? 0 : kept))
        }
        assert.lengthOf(requests, chunks.length)
      })
  )

  it.effect.prop(
    "is direct while the thought is short",
    {
      text: Schema.Union([Schema.String.check(Schema.isMaxLength(30)), Schema.Literal("<answer> Ostrel Bay</answer>")])
    },
    ({ text }) =>
      Effect.gen(function* () {
        const one = (agent: "delethink" | "direct") => play(() => text, { config: { agent } })
        assert.deepStrictEqual((yield* one("delethink")).trajectories, (yield* one("direct")).trajectories)
      })
  )

  it.effect("has the chunks of the paper", () =>
    Effect.gen(function* () {
      const { requests, trajectories } = yield* play(thinking("a".repeat(19_999), 8192, 0.5), {
        config: { agent: "delethink", maxResponseTokens: 8192, maxPromptTokens: 8192 },
        contextLength: 20_000
      })
      const [one = assert.fail()] = trajectories
      const question = requests[0]?.prompt.length ?? assert.fail()
      assert.deepStrictEqual(
        Trajectory.segments(one).map(({ prompt, response }) => [response.length, prompt.length - question]),
        [
          [8192, 0],
          [4096, 4096],
          [4096, 4096],
          [3616, 4096]
        ]
      )
    })
  )
})

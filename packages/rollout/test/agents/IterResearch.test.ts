import { assert, describe, it } from "@effect/vitest"
import { Trajectory } from "@inspo/domain"
import { defaultConfig } from "@inspo/rollout"
import { ByteTokenizer } from "@inspo/rollout/testing"
import { Effect, Schema } from "effect"
import { request } from "../../src/agents/IterResearch.ts"
import { passage, play } from "../support/Play.ts"

const turn = (seed: string) => Number(seed.split("/").at(-1))
const asked = `<|user|> Say it. Question: Where was the mayor born? ${request}`

describe("iter-research", () => {
  it.effect("shows each turn the question, the last report, the last call and its result, and nothing else", () =>
    Effect.gen(function* () {
      const texts = [
        "<think> Who?</think><report> The mayor <b>is to be found.</report><search> mayor</search>",
        "No tags.",
        "<search> Marlen Tovik</search>",
        "<report> It is Ostrel Bay.</report><answer> Ostrel Bay</answer>"
      ]
      const { prompts, trajectories } = yield* play((_, { seed }) => texts[turn(seed)] ?? "", {
        config: { agent: "iter-research" }
      })
      const report = "<information> The mayor (b)is to be found.</information>"
      assert.deepStrictEqual(prompts, [
        `${asked}<|assistant|>`,
        `${asked} Context: ${report}<search> mayor</search><information> T: about mayor</information><|assistant|>`,
        `${asked} Context: ${report}<information> Invalid action. Search with a query or give the answer.</information><|assistant|>`,
        `${asked} Context: ${report}<search> Marlen Tovik</search><information> T: about Marlen Tovik</information><|assistant|>`
      ])
      const [one = assert.fail()] = trajectories
      assert.deepStrictEqual(
        Trajectory.segments(one).map(({ prompt, response }) =>
          [prompt, response].map((tokens) => ByteTokenizer.tokenizer.decode(tokens))
        ),
        prompts.map((prompt, index) => [prompt, `${texts[index]}${index === 1 ? "<|end|>" : ""}`])
      )
      assert.deepStrictEqual(
        one.transcript.map(({ observation, prompt }) => ({ observation, prompt })),
        [
          { observation: "<information> T: about mayor</information>", prompt: undefined },
          {
            observation: "<information> Invalid action. Search with a query or give the answer.</information>",
            prompt: prompts[1]?.slice("<|user|> ".length, -"<|assistant|>".length)
          },
          {
            observation: "<information> T: about Marlen Tovik</information>",
            prompt: prompts[2]?.slice("<|user|> ".length, -"<|assistant|>".length)
          },
          { observation: null, prompt: prompts[3]?.slice("<|user|> ".length, -"<|assistant|>".length) }
        ]
      )
      assert.deepStrictEqual([one.reward, one.toolCalls, one.finishReason], [1, 2, "answered"])
    })
  )

  it.effect("asks in 256 rounds for no longer a prompt than in three", () =>
    Effect.gen(function* () {
      const sizes = (maxTurns: number) =>
        play((_, { seed }) => `<report> ${"known ".repeat(turn(seed))}</report><search> ${seed}</search>`, {
          config: { agent: "iter-research", maxTurns, maxObservationTokens: 120, maxResponseTokens: 4000 },
          search: (queries) => Effect.succeed(queries.map((query) => [passage(`about ${query}`.repeat(40))]))
        })
      const [short, long] = [yield* sizes(3), yield* sizes(256)]
      const most = ({ requests }: typeof long) => Math.max(...requests.map(({ prompt }) => prompt.length))
      assert.lengthOf(long.requests, 257)
      // The query has one digit in one, and up to three in the other.
      assert.isAtMost(most(long), most(short) + 120)
      const [one = assert.fail()] = long.trajectories
      assert.lengthOf(Trajectory.segments(one), 257)
      assert.strictEqual(one.finishReason, "turns-exhausted")
    })
  )

  it.effect.prop(
    "is search-r1 while it has one round",
    { text: Schema.Union([Schema.String, Schema.Literals(["<answer> Ostrel Bay</answer>", "<search> a</search>"])]) },
    ({ text }) =>
      Effect.gen(function* () {
        const one = (agent: "iter-research" | "search-r1") =>
          play(() => text, {
            config: {
              agent,
              maxTurns: 0,
              texts: { ...defaultConfig.texts, prompt: "{instruction} {question} {tools}" }
            }
          })
        assert.deepStrictEqual((yield* one("iter-research")).trajectories, (yield* one("search-r1")).trajectories)
      })
  )

  it.effect("is trained where it was sampled when its turns are given", () =>
    Effect.gen(function* () {
      const texts = ["<report> R.</report><search> mayor</search>", "<answer> Ostrel Bay</answer>"]
      const config = { agent: "iter-research" } as const
      const sampled = yield* play((_, { seed }) => texts[turn(seed)] ?? "", { config })
      const given = yield* play(() => assert.fail("the policy was asked"), { config, demonstration: texts })
      assert.deepStrictEqual(given.trajectories, sampled.trajectories)
    })
  )
})

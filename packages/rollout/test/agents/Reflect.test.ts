import { assert, describe, it } from "@effect/vitest"
import { Trajectory } from "@inspo/domain"
import { ByteTokenizer } from "@inspo/rollout/testing"
import { Effect, Schema } from "effect"
import * as Reflect from "../../src/agents/Reflect.ts"
import { play } from "../support/Play.ts"

const { decode } = ByteTokenizer.tokenizer
const turn = (seed: string) => Number(seed.split("/").at(-1))
const asked = "<|user|> Say it. Question: Where was the mayor born?"

const Text = Schema.Literals([
  "<think> Who?</think><search> mayor</search>",
  "<search> Marlen Tovik</search>",
  "No tags.",
  "<reflect> Name the <b>mayor first.</reflect>",
  "<reflect></reflect>",
  "<answer> Ulva</answer>",
  "<answer> Ostrel Bay</answer>"
])
const texts = Schema.NonEmptyArray(Text).check(Schema.isMaxLength(8))
const maxTurns = Schema.Literals([0, 1, 3])

/** The tokens that the policy wrote in each segment, and the segment's prompt. */
const segments = (one: Trajectory.Trajectory) =>
  Trajectory.segments(one).map(({ mask, prompt, response }) => ({
    prompt: decode(prompt),
    written: decode(response.filter((_, at) => mask[at] === 1))
  }))

describe("reflect", () => {
  it.effect("shows the attempt to the reflection, and the reflection alone to the next attempt", () =>
    Effect.gen(function* () {
      const written = [
        "<search> mayor</search>",
        "<answer> Ulva</answer>",
        "<think> Wrong.</think><reflect> Name the <b>mayor first.</reflect>",
        "<search> Marlen Tovik</search>",
        "<answer> Ostrel Bay</answer>"
      ]
      const { prompts, trajectories } = yield* play((_, { seed }) => written[turn(seed)] ?? "", {
        config: { agent: "reflect" }
      })
      const attempt =
        "<information> (answer) Ulva(/answer) (search) mayor(/search)(information) T: about mayor(/information)</information>"
      const again = `${asked} Context: <information> Name the (b)mayor first.</information><|assistant|>`
      const found = (name: string) => `<search> ${name}</search><information> T: about ${name}</information>`
      assert.deepStrictEqual(prompts, [
        `${asked}<|assistant|>`,
        `${asked}<|assistant|>${found("mayor")}`,
        `${asked} Context: ${attempt} ${Reflect.request}<|assistant|>`,
        again,
        `${again}${found("Marlen Tovik")}`
      ])
      const [one = assert.fail()] = trajectories
      assert.deepStrictEqual(
        one.transcript.map(({ action }) => action.kind),
        ["search", "answer", "reflect", "search", "answer"]
      )
      assert.deepStrictEqual(
        segments(one).map((segment) => segment.written),
        [written.slice(0, 2).join(""), written[2], written.slice(3).join("")]
      )
      assert.deepStrictEqual([one.reward, one.toolCalls, one.finishReason], [1, 2, "answered"])
    })
  )

  it.effect.prop(
    "begins as search-r1, and without a reflection attempts again as if for the first time",
    { texts, maxTurns },
    ({ maxTurns, texts }) =>
      Effect.gen(function* () {
        const from = (agent: "reflect" | "search-r1", start: number) => {
          let written = start
          return Effect.map(
            play(() => texts[written++ % texts.length] ?? "", { config: { agent, maxTurns } }),
            ({ trajectories: [one = assert.fail()] }) => one
          )
        }
        const one = yield* from("reflect", 0)
        const [first = assert.fail(), reflection = assert.fail(), last = assert.fail(), ...more] = segments(one)
        assert.isEmpty(more)
        const usual = yield* from("search-r1", 0)
        assert.deepStrictEqual([first], segments(usual))
        const { action, text } = one.transcript[usual.turns] ?? assert.fail()
        assert.strictEqual(text, reflection.written)
        assert.include(["reflect", "invalid"], action.kind)
        const again = yield* from("search-r1", usual.turns + 1)
        const [plain = assert.fail()] = segments(again)
        const reflected = `${asked} Context: <information> Name the (b)mayor first.</information><|assistant|>`
        assert.deepStrictEqual(last, { ...plain, prompt: action.kind === "invalid" ? plain.prompt : reflected })
        assert.strictEqual(one.finishReason, again.finishReason)
        assert.isAtMost(one.turns, 2 * maxTurns + 3)
      })
  )

  it.effect("is search-r1 where the attempt cannot be shown", () =>
    Effect.gen(function* () {
      const one = (agent: "reflect" | "search-r1") =>
        play(() => "<answer> Ostrel Bay</answer>", { config: { agent, maxPromptTokens: 100 } })
      assert.deepStrictEqual((yield* one("reflect")).trajectories, (yield* one("search-r1")).trajectories)
    })
  )
})

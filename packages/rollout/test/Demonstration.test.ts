import { assert, describe, it } from "@effect/vitest"
import { Demonstration } from "@inspo/rollout"
import { ByteTokenizer } from "@inspo/rollout/testing"
import { Effect, Option, Schema } from "effect"
import { obliging, play, question } from "./support/Play.ts"
import { KeepingAgent } from "./support/Agents.ts"

const titles = new Map([
  ["a", "Marlen Tovik"],
  ["b", "Ostrel Bay"],
  ["untitled", ""]
])
const Turn = Schema.Union([Schema.String, Schema.Literal("<search> more than twenty bytes of a query</search>")])
const Supports = Schema.NonEmptyArray(Schema.Literals(["a", "b"])).check(Schema.isMaxLength(4))

describe("Demonstration", () => {
  it.effect.prop(
    "is what the trajectory holds: every search is made, nothing is sampled, and the answer earns its reward",
    { supportIds: Supports },
    ({ supportIds }) =>
      Effect.gen(function* () {
        const demonstration = Option.getOrThrow(Demonstration.searches({ ...question, supportIds }, titles))
        const queries: Array<string> = []
        const { requests, trajectories } = yield* play(() => assert.fail("the policy was asked"), {
          demonstration,
          search: (asked) => {
            queries.push(...asked)
            return obliging(asked, 1)
          }
        })
        const [{ finishReason, logprobs, mask, response, reward, toolCalls, transcript } = assert.fail()] = trajectories
        assert.strictEqual(requests.length, 0)
        assert.deepStrictEqual(
          queries,
          supportIds.map((id) => titles.get(id))
        )
        assert.deepStrictEqual(
          transcript.map(({ text }) => text),
          demonstration
        )
        assert.deepStrictEqual([toolCalls, reward, finishReason], [supportIds.length, 1, "answered"])
        const written = ByteTokenizer.tokenizer.decode(response.filter((_, i) => mask[i] === 1))
        assert.strictEqual(written, demonstration.join(""))
        // The scripted policy gives every token the same probability, which is not 1.
        assert.isTrue(mask.every((isAction, i) => (isAction === 1) === (logprobs[i] ?? 0) < 0))
      })
  )

  it.effect.prop(
    "is refused where the engine leaves a token or a whole response without a log-probability",
    { supportIds: Supports, kept: Schema.Literals([0, 1, 2]) },
    ({ kept, supportIds }) =>
      Effect.gen(function* () {
        const demonstration = Option.getOrThrow(Demonstration.searches({ ...question, supportIds }, titles))
        const setup = { demonstration, episodes: 3 }
        const whole = yield* play(() => assert.fail("the policy was asked"), setup)
        assert.lengthOf(whole.trajectories, 3)
        for (const scored of [
          (all: ReadonlyArray<ReadonlyArray<number>>) => all.slice(0, kept),
          (all: ReadonlyArray<ReadonlyArray<number>>) => all.map((one, at) => (at === kept ? one.slice(1) : one))
        ]) {
          const { message } = yield* Effect.flip(play(() => assert.fail("the policy was asked"), { ...setup, scored }))
          assert.match(message, new RegExp(`of test/${kept} is .+ one for each token`, "u"))
        }
      })
  )

  it.effect.prop(
    "keeps the limits of every agent, however long it is",
    { agent: KeepingAgent, turns: Schema.Array(Turn), maxTurns: Schema.Literals([0, 1, 3]) },
    ({ agent, maxTurns, turns }) =>
      Effect.gen(function* () {
        const config = { agent, maxTurns, maxResponseTokens: 20 }
        const { trajectories } = yield* play(() => assert.fail("the policy was asked"), {
          config,
          demonstration: turns
        })
        const [{ logprobs, response, transcript } = assert.fail()] = trajectories
        assert.isAtMost(transcript.length, maxTurns + 1)
        assert.strictEqual(logprobs.length, response.length)
        for (const { text } of transcript) assert.isAtMost(ByteTokenizer.tokenizer.encode(text).length, 20)
      })
  )

  it("is none if a question has no supporting passages, or a passage has no title", () => {
    for (const supportIds of [undefined, [], ["a", "untitled"], ["a", "unknown"]]) {
      const asked = { goldenAnswers: question.goldenAnswers, ...(supportIds === undefined ? {} : { supportIds }) }
      assert.isTrue(Option.isNone(Demonstration.searches(asked, titles)))
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Struct } from "effect"
import { request } from "../../src/agents/Anytime.ts"
import { play } from "../support/Play.ts"

const turn = (seed: string) => Number(seed.split("/").at(-1))
const asks = (prompt: string) => prompt.includes(request.slice(0, 30))

describe("anytime", () => {
  it.effect.prop(
    "asks for an answer after 0, 1, 2, … calls, which depends on what was before alone and changes nothing",
    {
      texts: Schema.NonEmptyArray(Schema.Literals(["<search> a</search>", "No tags.", "<answer> Ostrel Bay</answer>"]))
    },
    ({ texts }) =>
      Effect.gen(function* () {
        const script = (prompt: string, { seed }: { readonly seed: string }) =>
          asks(prompt) ? `<answer> after ${prompt.length}</answer>` : (texts[turn(seed) % texts.length] ?? "")
        const one = (agent: "anytime" | "search-r1") => play(script, { config: { agent } })
        const { prompts, trajectories } = yield* one("anytime")
        const plain = yield* one("search-r1")
        const [own = assert.fail()] = trajectories
        assert.deepStrictEqual<unknown>(
          trajectories.map((one) => ({
            ...Struct.omit(one, ["asideTokens"]),
            transcript: one.transcript.map((turn) => Struct.omit(turn, ["asked"]))
          })),
          plain.trajectories
        )
        const asked = prompts.filter(asks)
        assert.deepStrictEqual(
          asked,
          plain.prompts.map((prompt) => `${prompt}<information> ${request}</information>`)
        )
        assert.deepStrictEqual(
          own.transcript.map((turn) => turn.asked),
          asked.map((prompt) => `<answer> after ${prompt.length}</answer>`)
        )
      })
  )

  it.effect.prop(
    "has an answer for each turn, an empty one where the context has no room to ask",
    { contextLength: Schema.Int.check(Schema.isBetween({ minimum: 80, maximum: 400 })) },
    ({ contextLength }) =>
      Effect.gen(function* () {
        const { trajectories } = yield* play(
          (prompt) => (asks(prompt) ? "<answer> x</answer>" : "<search> mayor</search>"),
          { config: { agent: "anytime" }, contextLength }
        )
        for (const { asked } of trajectories[0]?.transcript ?? []) assert.isString(asked)
      })
  )
})

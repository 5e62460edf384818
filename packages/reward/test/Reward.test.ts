import { assert, describe, it } from "@effect/vitest"
import { AnswerExtraction, layerExactMatch, Reward } from "@inspo/reward"
import { Effect, Schema } from "effect"

const Content = Schema.String.check(Schema.isPattern(/^[^<>]*$/))

describe("extractAnswer", () => {
  it.prop("takes the last pair, whatever stands around it", [Content, Content, Content, Content], (texts) => {
    const [before, first, last, after] = texts
    const response = `${before}<answer>${first}</answer>${after}<answer>${last}</answer>${after}`
    assert.strictEqual(
      AnswerExtraction.extractAnswer(response),
      AnswerExtraction.extractAnswer(`<answer>${last}</answer>`)
    )
  })

  it.prop("finds nothing without a closed pair", [Content, Content], ([a, b]) => {
    assert.isNull(AnswerExtraction.extractAnswer(`${a}<answer>${b}`))
    assert.isNull(AnswerExtraction.extractAnswer(`${a}</answer>${b}<answer>`))
  })

  it("strips white space as Python does, and spans lines", () => {
    assert.strictEqual(AnswerExtraction.extractAnswer("<answer>\x1c a\nb\ufeff \x85</answer>"), "a\nb\ufeff")
  })
})

describe("layerExactMatch", () => {
  it.effect("pays 1 for a golden answer or an alias in the last pair, else 0", () =>
    Effect.gen(function* () {
      const { score } = yield* Reward
      const question = { goldenAnswers: ["Ostrel Bay", "the town of Ostrel Bay"] } as const
      assert.deepStrictEqual(yield* score(question, "<answer> ostrel bay.</answer>"), {
        answer: "ostrel bay.",
        reward: 1
      })
      assert.deepStrictEqual(yield* score(question, "<answer>Town of Ostrel Bay</answer>"), {
        answer: "Town of Ostrel Bay",
        reward: 1
      })
      assert.deepStrictEqual(yield* score(question, "<answer>Ostrel Bay</answer><answer>no</answer>"), {
        answer: "no",
        reward: 0
      })
      assert.deepStrictEqual(yield* score(question, "Ostrel Bay"), { answer: null, reward: 0 })
    }).pipe(Effect.provide(layerExactMatch))
  )
})

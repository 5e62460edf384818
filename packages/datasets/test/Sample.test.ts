import { assert, describe, it } from "@effect/vitest"
import { Sample } from "@inspo/datasets"
import { Question } from "@inspo/domain"
import { Result, Schema } from "effect"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const Sources = Schema.Array(Schema.Tuple([Schema.Literals(["nq", "hotpotqa", "musique"]), between(0, 20)]))
const Shares = Schema.Struct({ train: between(1, 9), validation: between(0, 9), test: between(0, 9) })
const Seed = between(0, 1000)

/** Questions by source; equal numbers are equal texts, of one source or of two. */
const toQuestions = (drawn: typeof Sources.Type): ReadonlyArray<Question.Question> =>
  drawn.map(([dataSource, text], index) => ({
    id: Question.QuestionId.make(`${index}`),
    question: `question ${text}?`,
    goldenAnswers: ["a"],
    dataSource
  }))

const count = (questions: ReadonlyArray<Question.Question>, source: string) =>
  questions.filter(({ dataSource }) => dataSource === source).length

describe("apportion", () => {
  it.prop(
    "gives whole shares that sum up and are less than one off",
    [Schema.NonEmptyArray(between(1, 50)), between(0, 500)],
    ([weights, total]) => {
      const shares = Sample.apportion(weights, total)
      assert.strictEqual(
        shares.reduce((a, b) => a + b, 0),
        total
      )
      const sum = weights.reduce((a, b) => a + b, 0)
      shares.forEach((share, i) => assert.isBelow(Math.abs(share - ((weights[i] ?? 0) * total) / sum), 1))
    }
  )
})

describe("mix", () => {
  it.prop(
    "has the shares asked for to the question, repeats none, and depends on the seed alone",
    [Sources, between(1, 5), between(0, 5), Seed],
    ([drawn, nq, hotpotqa, seed]) => {
      const questions = toQuestions(drawn)
      const shares = { nq, ...(hotpotqa === 0 ? {} : { hotpotqa }) }
      const mixed = Sample.mix(questions, { seed, shares })
      if (Object.keys(shares).some((source) => count(questions, source) === 0)) {
        assert.isTrue(Result.isFailure(mixed))
        return
      }
      const sample = Result.getOrThrow(mixed)
      assert.deepStrictEqual(Result.getOrThrow(Sample.mix(questions, { seed, shares })), sample)
      assert.lengthOf(new Set(sample), sample.length)
      assert.deepStrictEqual(
        questions.filter((question) => sample.includes(question)),
        sample
      )
      for (const [source, share] of Object.entries({ musique: 0, hotpotqa: 0, ...shares }))
        assert.isBelow(Math.abs(count(sample, source) - (share * sample.length) / (nq + hotpotqa)), 1)
      assert.isTrue(
        Result.isFailure(Sample.mix(questions, { seed, shares, size: questions.length + 1 })),
        "the default size cannot be exceeded for ever"
      )
    }
  )

  it("draws others with another seed", () => {
    const questions = toQuestions(Array.from({ length: 200 }, (_, i) => [i % 2 === 0 ? "nq" : "hotpotqa", i] as const))
    const sample = (seed: number) =>
      Result.getOrThrow(Sample.mix(questions, { seed, shares: { nq: 1, hotpotqa: 3 }, size: 80 }))
    assert.strictEqual(count(sample(1), "nq"), 20)
    assert.notDeepEqual(sample(1), sample(2))
  })

  it("says which source is missing", () => {
    const mixed = Sample.mix(toQuestions([["nq", 1]]), { seed: 1, shares: { triviaqa: 1 } })
    assert.deepInclude(Result.getOrThrow(Result.flip(mixed)), { value: "triviaqa", expected: "one of nq" })
  })
})

describe("split", () => {
  it.prop(
    "puts every question in one part, equal texts in the same, and keeps their order",
    [Sources, Shares, Seed],
    ([drawn, shares, seed]) => {
      const questions = toQuestions(drawn)
      const parts = Sample.split(questions, { seed, shares })
      assert.deepStrictEqual(Object.keys(parts), Object.keys(shares))
      const all = Object.values(parts).flat()
      assert.lengthOf(all, questions.length)
      assert.sameMembers(all, [...questions])
      const texts = Object.values(parts).map((part) => new Set(part.map(({ question }) => question)))
      assert.lengthOf(
        new Set(all.map(({ question }) => question)),
        texts.reduce((sum, { size }) => sum + size, 0)
      )
      for (const part of Object.values(parts))
        assert.deepStrictEqual(
          questions.filter((each) => part.includes(each)),
          part
        )
      assert.deepStrictEqual(Sample.split(questions, { seed, shares }), parts)
    }
  )

  it("gives every source its shares, others with another seed", () => {
    const questions = toQuestions(Array.from({ length: 300 }, (_, i) => [i % 3 === 0 ? "nq" : "hotpotqa", i] as const))
    const parts = Sample.split(questions, { seed: 1, shares: { train: 8, test: 2 } })
    assert.strictEqual(count(parts["train"] ?? [], "nq"), 80)
    assert.strictEqual(count(parts["test"] ?? [], "hotpotqa"), 40)
    assert.notDeepEqual(Sample.split(questions, { seed: 2, shares: { train: 8, test: 2 } }), parts)
  })
})

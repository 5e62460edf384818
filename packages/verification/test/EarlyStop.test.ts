import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Random, Schema } from "effect"
import { EarlyStop } from "../src/index.ts"

const Difference = Schema.Literals([-1, -0.5, 0, 0, 0.5, 1])
const Differences = Schema.Array(Difference).check(Schema.isMaxLength(60))
const Risk = Schema.Literals([0.01, 0.05, 0.3])
const Left = Schema.Literals([0, 1, 5, 40])
const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

describe("an outcome", () => {
  it.prop("is the sign of the sum once all questions are asked", [Differences, Risk], ([differences, risk]) => {
    const outcome = EarlyStop.outcome(differences, { questions: differences.length, risk })
    assert.strictEqual(outcome, sum(differences) >= 0 ? "ahead" : "behind")
  })

  it.prop(
    "is never against the sign so far, and known where the questions left cannot turn it",
    [Differences, Left, Risk],
    ([differences, left, risk]) => {
      const outcome = EarlyStop.outcome(differences, { questions: differences.length + left, risk })
      if (sum(differences) > 0) assert.notStrictEqual(outcome, "behind")
      if (sum(differences) < 0 && left > 0) assert.notStrictEqual(outcome, "ahead")
      if (Math.abs(sum(differences)) > left) assert.isNotNull(outcome)
    }
  )

  it("takes no difference beyond [-1, 1], no risk beyond (0, 1), and no fewer questions than were asked", () => {
    const expected = /EarlyStop: .*; expected/u
    for (const none of [-1.5, 2, NaN])
      assert.throws(() => EarlyStop.outcome([none], { questions: 9, risk: 0.1 }), expected)
    for (const risk of [0, 1, NaN]) assert.throws(() => EarlyStop.outcome([1], { questions: 9, risk }), expected)
    assert.throws(() => EarlyStop.outcome([1, 1], { questions: 1, risk: 0.1 }), expected)
  })

  it.prop("a result at a smaller risk is the same at a larger one", [Differences, Left], ([differences, left]) => {
    const at = (risk: number) => EarlyStop.outcome(differences, { questions: differences.length + left, risk })
    if (at(0.01) !== null) assert.strictEqual(at(0.3), at(0.01))
  })

  it.prop(
    "does not know the names of the two: what puts one ahead puts the other behind",
    [Differences, Left, Risk],
    ([differences, left, risk]) => {
      const questions = differences.length + left
      const own = EarlyStop.outcome(differences, { questions, risk })
      const other = EarlyStop.outcome(
        differences.map((difference) => -difference),
        { questions, risk }
      )
      if (own === "behind") assert.strictEqual(other, "ahead")
      if (own === null && other !== null) assert.strictEqual(Math.abs(sum(differences)), left)
    }
  )

  // The worst case is a tie, or one question less than it: everything else is further from the other side.
  for (const [questions, disagreeing] of [
    [200, 160],
    [200, 40],
    [200, 12],
    [50, 30],
    [16, 8]
  ] as const)
    for (const behind of [false, true])
      it(`is wrong no more often than the risk: ${questions} questions, ${disagreeing} disagree, ${behind ? "one short of a tie" : "a tie"}`, () => {
        const wins = disagreeing / 2 - (behind ? 1 : 0)
        const all = [
          ...Arr.replicate(1, wins),
          ...Arr.replicate(-1, disagreeing / 2),
          ...Arr.replicate(0, questions - wins - disagreeing / 2)
        ]
        const trials = 300
        const wrong = Arr.range(1, trials).filter((trial) => {
          const order = Effect.runSync(Random.withSeed(Random.shuffle(all), `order ${trial}`))
          const answer = Arr.range(1, questions).reduce<EarlyStop.Outcome>(
            (known, asked) => known ?? EarlyStop.outcome(order.slice(0, asked), { questions, risk: 0.05 }),
            null
          )
          return answer !== (behind ? "behind" : "ahead")
        })
        // 5 %, and three standard errors of so many trials.
        assert.isAtMost(wrong.length / trials, 0.05 + 3 * Math.sqrt((0.05 * 0.95) / trials))
      })
})

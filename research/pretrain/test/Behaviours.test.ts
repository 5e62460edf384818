import { assert, describe, it } from "@effect/vitest"
import { ClauseBank } from "@inspo/reflection"
import { Effect, Record, Schema } from "effect"
import * as Behaviours from "../src/Behaviours.ts"

const { defaultRates } = Behaviours
const ClauseIndexes = Schema.Array(
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: ClauseBank.clauses.length - 1 }))
)

const instructionOf = (indexes: ReadonlyArray<number>) =>
  [ClauseBank.seedInstruction, ...indexes.map((index) => ClauseBank.clauses[index]?.texts.at(-1) ?? "")].join(" ")

describe("ratesUnder", () => {
  it.prop("changes a behaviour only by clauses about it", [ClauseIndexes], ([indexes]) => {
    const rates = Behaviours.ratesUnder(instructionOf(indexes), defaultRates)
    for (const [behaviour, rate] of Object.entries(rates)) {
      const directions = new Set(
        indexes.flatMap((index) =>
          ClauseBank.clauses[index]?.behaviour === behaviour ? [ClauseBank.clauses[index].direction] : []
        )
      )
      const base = new Map(Object.entries(defaultRates.base)).get(behaviour) ?? NaN
      const expected = new Map([
        ["", base],
        ["1", defaultRates.follow],
        ["-1", base * (1 - defaultRates.follow)],
        ["-1,1", 0.5]
      ])
      assert.strictEqual(
        rate,
        expected.get(
          Array.from(directions)
            .toSorted((a, b) => a - b)
            .join()
        )
      )
    }
  })

  it.prop("ignores every clause if demonstrators are not obedient", [ClauseIndexes], ([indexes]) => {
    const rates = Behaviours.ratesUnder(instructionOf(indexes), { ...defaultRates, obedient: false })
    assert.deepStrictEqual(rates, defaultRates.base)
  })
})

describe("draw", () => {
  it.effect("draws each behaviour about as often as its rate", () =>
    Effect.gen(function* () {
      const instruction = instructionOf([0, 5])
      const drawn = yield* Effect.all(Array.from({ length: 2000 }, () => Behaviours.draw(instruction, defaultRates)))
      Record.map(Behaviours.ratesUnder(instruction, defaultRates), (rate, behaviour) => {
        const share = drawn.filter((behaviours) => behaviours[behaviour]).length / drawn.length
        assert.approximately(share, rate, 0.05, behaviour)
      })
    })
  )
})

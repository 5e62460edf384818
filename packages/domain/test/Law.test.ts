import { assert, describe, it } from "@effect/vitest"
import { Law } from "@inspo/domain/testing"
import { Arbitrary, Effect, Schema } from "effect"

const numbers = Arbitrary.schema(Schema.Array(Schema.Int))

const sorted = (sort: (numbers: ReadonlyArray<number>) => ReadonlyArray<number>, options?: Law.Options) => [
  Law.forAll("keeps the length", numbers, options, (given) => Law.same(sort(given).length, given.length, "length")),
  Law.forAll("ascends", numbers, options, (given) =>
    Effect.sync(() => {
      const result = sort(given)
      Law.expect(
        result.every((number, index) => index === 0 || (result[index - 1] ?? NaN) <= number),
        "it descends"
      )
    })
  ),
  Law.once("leaves nothing as it is", () => Law.same(sort([]), [], "the result"))
]

const right = (given: ReadonlyArray<number>): ReadonlyArray<number> => given.toSorted((a, b) => a - b)

describe("a suite of laws", () => {
  it.effect("holds for what has its properties, and names each that something lacks", () =>
    Effect.gen(function* () {
      const names = (sort: typeof right) =>
        Effect.map(Law.broken(sorted(sort)), (found) => found.map(({ law, reason }) => `${law}: ${reason}`))
      assert.deepStrictEqual(yield* names(right), [])
      assert.deepStrictEqual(yield* names((given) => [...new Set(right(given))]), [
        "keeps the length: length: 1; expected 2"
      ])
      assert.deepStrictEqual(yield* names((given) => given), ["ascends: it descends"])
      const throwing = (given: ReadonlyArray<number>): ReadonlyArray<number> => {
        if (given.length === 0) throw new TypeError("nothing to sort")
        return right(given)
      }
      const last = (yield* names(throwing)).at(-1)
      assert.strictEqual(last, "leaves nothing as it is: TypeError: nothing to sort")
    })
  )

  it.effect("gives the smallest case, which a replay finds again, and a seed all cases", () =>
    Effect.gen(function* () {
      const identity = (given: ReadonlyArray<number>) => given
      const ascends = (options: Law.Options) => Effect.map(Law.broken(sorted(identity, options)), ([found]) => found)
      const found = (yield* ascends({ seed: 3 })) ?? assert.fail("nothing was found")
      assert.strictEqual(found.law, "ascends")
      assert.deepEqual(yield* ascends({ seed: 3 }), found)
      assert.match(found.counterexample ?? "", /^\[-?\d+,-?\d+\]$/u)
      const replayed = yield* ascends({ replay: found.replay ?? "" })
      assert.strictEqual(replayed?.counterexample, found.counterexample)
      assert.include(found.message, `counterexample: ${found.counterexample}\nreplay: ${found.replay}`)
      // What a replay does not break may be broken by another case.
      assert.isUndefined((yield* Law.broken(sorted(right, { replay: found.replay ?? "" })))[0])
    })
  )

  it.effect("does not pass where no case can be generated", () =>
    Effect.gen(function* () {
      const never = Arbitrary.filter(numbers, () => false)
      const [found] = yield* Law.broken([Law.forAll("says nothing", never, {}, () => undefined)])
      assert.include(found?.reason, "only 0 cases")
    })
  )
})

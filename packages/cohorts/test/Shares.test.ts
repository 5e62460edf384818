import { assert, describe, it } from "@effect/vitest"
import { Shares } from "@inspo/cohorts"
import { InstructionId } from "@inspo/domain/Instruction"
import { Effect, Schema } from "effect"

const Members = Schema.Array(Schema.Literals([0, 0.25, 0.5, 1])).check(Schema.isMinLength(2), Schema.isMaxLength(6))
const Pairs = Schema.Array(
  Schema.Tuple([Schema.Literals([0, 1, 2, 3, 4, 5]), Schema.Literals([0, 1, 2, 3, 4, 5])])
).check(Schema.isMaxLength(6))

describe("weights levelled where silence forbids a decision", () => {
  it.effect.prop(
    "leave members apart that no pair names, stay between the weights of a pair, and are equal where a pair is alone",
    [Members, Pairs],
    ([given, drawn]) =>
      Effect.sync(() => {
        const weights = given.map((weight, index) => ({ id: InstructionId.make(`i${index}`), weight }))
        const pairs = drawn
          .filter(([one, other]) => (given[one] ?? 0) > (given[other] ?? 2))
          .map(([one, other]) => ({ better: InstructionId.make(`i${one}`), worse: InstructionId.make(`i${other}`) }))
        const levelled = Shares.levelled(weights, pairs)
        const at = (id: string) => levelled.find((one) => one.id === id)?.weight ?? Number.NaN
        assert.deepEqual(
          levelled.map(({ id }) => id),
          weights.map(({ id }) => id)
        )
        for (const { id, weight } of weights) {
          const own = pairs.filter(({ better, worse }) => better === id || worse === id)
          if (own.length === 0) assert.strictEqual(at(id), weight)
          assert.isTrue(at(id) >= Math.min(...given) && at(id) <= Math.max(...given))
        }
        if (pairs.length === 1) for (const { better, worse } of pairs) assert.strictEqual(at(better), at(worse))
      })
  )
})

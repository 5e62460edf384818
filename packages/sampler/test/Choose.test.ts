import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Schema } from "effect"
import { Instruction } from "@inspo/domain"
import { Choose } from "@inspo/sampler"

const Values = Schema.NonEmptyArray(Schema.Literals([0, 1, 2, 5])).check(Schema.isMaxLength(5))

const sharesOf = (values: ReadonlyArray<number>): ReadonlyArray<Choose.Share> => {
  const total = values.reduce((sum, value) => sum + value, 0)
  return values.map((value, index) => ({ id: Instruction.InstructionId.make(`i${index}`), probability: value / total }))
}

describe("choose", () => {
  it.prop(
    "draws one that can be drawn, the same whatever the order of the shares",
    [Values, Schema.Int, Schema.String],
    ([values, seed, key]) => {
      if (values.every((value) => value === 0)) return
      const shares = sharesOf(values)
      const one = Choose.choose({ seed, path: ["lease", key], shares })
      assert.isAbove(one.probability, 0)
      assert.deepEqual(Choose.choose({ seed, path: ["lease", key], shares: shares.toReversed() }), one)
    }
  )

  it("draws each as often as its probability", () => {
    const shares = sharesOf([1, 2, 5])
    const drawn = Arr.makeBy(4000, (key) => Choose.choose({ seed: 1, path: ["lease", key], shares }).id)
    for (const { id, probability } of shares)
      assert.approximately(drawn.filter((one) => one === id).length / drawn.length, probability, 0.03)
  })

  it("refuses shares that are not a distribution", () => {
    for (const probability of [0.5, 2, Number.NaN])
      assert.throws(
        () => Choose.choose({ seed: 1, path: [], shares: [{ id: Instruction.InstructionId.make("i0"), probability }] }),
        /shares is .*; expected probabilities that sum to 1/u
      )
  })
})

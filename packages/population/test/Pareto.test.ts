import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Pareto } from "../src/index.ts"

const Score = Schema.Literals([0, 0.5, 1])
const Items = Schema.Array(Schema.Tuple([Score, Score, Score]))
const own = (scores: readonly [number, number, number]) => scores

describe("front", () => {
  it.prop("holds exactly those whom nobody outdoes, in their order", [Items], ([items]) => {
    const front = Pareto.front(items, own)
    assert.deepStrictEqual(
      front,
      items.filter((item) => front.includes(item))
    )
    for (const item of items)
      assert.strictEqual(
        front.includes(item),
        !items.some(
          (other) => other.every((score, index) => score >= (item[index] ?? 0)) && other.join() !== item.join()
        )
      )
  })

  it.prop("holds the best of each criterion's leaders, so that it is never empty", [Items], ([items]) => {
    assert.strictEqual(Pareto.front(items, own).length === 0, items.length === 0)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { bucket } from "../../src/internal/Buckets.ts"
import { deal } from "../../src/internal/Deal.ts"
import * as PackedBatches from "../../src/internal/PackedBatches.ts"
import * as SequenceBatches from "../../src/internal/SequenceBatches.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

describe("Deal", () => {
  it.prop(
    "deals every job once, to lanes of nearly equal cost",
    [Schema.Array(between(1, 50)), between(1, 8)],
    ([costs, lanes]) => {
      const dealt = deal(costs, lanes)
      assert.sameMembers(dealt.flat(), [...costs.keys()])
      assert.lengthOf(dealt.flat(), costs.length)
      const totals = dealt.map((lane) => lane.reduce((sum, index) => sum + (costs[index] ?? 0), 0))
      assert.isAtMost(Math.max(0, ...totals) - Math.min(Infinity, ...totals), Math.max(0, ...costs))
    }
  )
})

describe("Buckets", () => {
  it.prop("holds the length, with padding below 16 or half of it, in few sizes", [between(1, 400)], ([length]) => {
    const size = bucket(length)
    assert.isAtLeast(size, length)
    assert.isBelow(size - length, Math.max(16, length / 2 + 1))
    assert.strictEqual(bucket(size), size)
    assert.isAtMost(new Set(Array.from({ length: size }, (_, shorter) => bucket(shorter + 1))).size, 13)
  })
})

describe("SequenceBatches", () => {
  it.prop("plans every sequence once, where it fits", [Schema.Array(between(1, 320))], ([lengths]) => {
    const plans = SequenceBatches.plan(lengths)
    const planned = plans.flatMap(({ sequences }) => sequences)
    assert.sameMembers(planned, [...lengths.keys()])
    assert.lengthOf(planned, lengths.length)
    for (const { rows, length, sequences } of plans) {
      assert.isAtMost(sequences.length, rows)
      for (const sequence of sequences) assert.isAtMost(lengths[sequence] ?? Infinity, length)
    }
  })
})

describe("PackedBatches", () => {
  const Shape = Schema.Struct({ prompt: between(1, 3), response: between(0, 200) })

  it.prop(
    "plans every response once, beside others of its prompt, where it fits",
    [Schema.Array(Shape)],
    ([shapes]) => {
      const sequences = shapes.map(({ prompt, response }) => ({
        prompt: Array.from({ length: 40 * prompt }, () => prompt),
        response: Array.from({ length: response }, () => 1)
      }))
      const plans = PackedBatches.plan(sequences)
      const planned = plans.flatMap(({ groups }) => groups.flat())
      const expected = [...sequences.keys()].filter((index) => (sequences[index]?.response.length ?? 0) > 0)
      assert.sameMembers(planned, expected)
      assert.lengthOf(planned, expected.length)
      for (const { shape, groups } of plans) {
        assert.isAtMost(groups.length, shape.groups)
        for (const group of groups) {
          assert.isAtMost(group.length, shape.completions)
          assert.lengthOf(new Set(group.map((index) => shapes[index]?.prompt)), 1)
          for (const index of group) {
            assert.isAtMost((sequences[index]?.prompt.length ?? Infinity) - 1, shape.promptLength)
            assert.isAtMost(sequences[index]?.response.length ?? Infinity, shape.responseLength)
          }
        }
      }
    }
  )
})

import { assert, describe, it } from "@effect/vitest"
import type { Datum } from "@inspo/engine"
import { Schema } from "effect"
import { bucket } from "../../src/internal/SequenceBatches.ts"
import { deal } from "../../src/internal/WorkerPool.ts"
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
  const promptLengths = [1, 40, 81]

  it.prop(
    "plans every response once, beside others of its prompt, where it fits",
    [Schema.Array(Shape)],
    ([shapes]) => {
      const sequences = shapes.map(({ prompt, response }) => ({
        prompt: Array.from({ length: promptLengths[prompt - 1] ?? 0 }, () => prompt),
        response: Array.from({ length: response }, () => 1)
      }))
      const plans = PackedBatches.plan(sequences)
      const planned = plans.flatMap(({ groups }) => groups.flat())
      const expected = [...sequences.keys()].filter((index) => (sequences[index]?.response.length ?? 0) > 0)
      assert.sameMembers(planned, expected)
      assert.lengthOf(planned, expected.length)
      for (const { shape, groups } of plans) {
        assert.lengthOf(groups, shape.groups)
        const rows = shape.groups * (shape.promptLength + shape.completions * shape.responseLength)
        assert.isTrue(rows <= 900 || groups.flat().length === 1, `${rows} rows`)
        for (const group of groups) {
          assert.isAtMost(group.length, shape.completions)
          assert.lengthOf(new Set(group.map((index) => shapes[index]?.prompt)), 1)
          for (const index of group) {
            assert.isAbove(shape.promptLength, 0)
            assert.isAtMost((sequences[index]?.prompt.length ?? Infinity) - 1, shape.promptLength)
            assert.isAtMost(sequences[index]?.response.length ?? Infinity, shape.responseLength)
          }
        }
      }
    }
  )

  it.prop(
    "joins equal datums into one with their weights and counts together",
    [Schema.Array(Schema.Tuple([between(0, 1), between(0, 1), between(0, 2)]))],
    ([choices]) => {
      const datums = choices.map(([token, advantage, weight]) => ({
        prompt: [1, 2],
        response: [token, 5],
        logprobs: [-1, -2],
        advantages: [0, advantage],
        weights: [0, weight / 4]
      }))
      const joined = PackedBatches.joinEqual(datums)
      const kind = ({ response, advantages }: Datum) => `${response.join()} ${advantages.join()}`
      const equal = Map.groupBy(datums, kind)
      assert.lengthOf(joined, equal.size)
      for (const datum of joined) {
        const members = equal.get(kind(datum)) ?? []
        assert.deepStrictEqual(datum.weights, [
          0,
          members.reduce((sum, { weights: [, weight = 0] }) => sum + weight, 0)
        ])
        assert.deepStrictEqual(datum.counts, [0, members.filter(({ weights: [, weight] }) => weight !== 0).length])
      }
    }
  )

  it("trains on no token without a weight", () => {
    const datum = { prompt: [1], response: [2, 3], logprobs: [-1, -1], advantages: [1, 1], weights: [1, 1] }
    assert.throws(
      () => PackedBatches.joinEqual([datum, { ...datum, weights: [1] }]),
      /weight of token 1 of 1 is missing/u
    )
  })

  it("joins no datums that differ in prompt, log-probabilities or advantages", () => {
    const datum = { prompt: [1], response: [2, 3], logprobs: [-1, -1], advantages: [1, 1], weights: [1, 1] }
    const others = [
      { ...datum, prompt: [2] },
      { ...datum, response: [2, 4] },
      { ...datum, logprobs: [-1, -2] },
      { ...datum, advantages: [1, -1] }
    ]
    assert.lengthOf(PackedBatches.joinEqual([datum, ...others]), 5)
  })
})

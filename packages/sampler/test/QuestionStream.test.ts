import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Schema } from "effect"
import { QuestionStream } from "@inspo/sampler"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Stream = Schema.Struct({ seed: Schema.Int, batchSize: between(1, 12), size: between(1, 30) })

const epoch = (stream: typeof Stream.Type, index: number): ReadonlyArray<ReadonlyArray<number>> => {
  const batches = Math.max(1, Math.floor(stream.size / stream.batchSize))
  return Arr.makeBy(batches, (at) => QuestionStream.batch({ ...stream, step: index * batches + at + 1 }))
}

describe("QuestionStream", () => {
  it.prop(
    "a batch holds batchSize indices of the set, or the whole set if that is smaller",
    [Stream, between(1, 99)],
    ([stream, step]) => {
      const batch = QuestionStream.batch({ ...stream, step })
      assert.strictEqual(batch.length, Math.min(stream.batchSize, stream.size))
      for (const index of batch) assert.isTrue(Number.isInteger(index) && index >= 0 && index < stream.size)
    }
  )

  it.prop("no question occurs twice within an epoch", [Stream, between(0, 5)], ([stream, index]) => {
    const seen = epoch(stream, index).flat()
    assert.strictEqual(new Set(seen).size, seen.length)
  })

  it.prop("an epoch leaves out less than one batch", [Stream, between(0, 5)], ([stream, index]) => {
    assert.isBelow(stream.size - new Set(epoch(stream, index).flat()).size, stream.batchSize)
  })

  it.prop("equal requests give equal batches", [Stream, between(1, 99)], ([stream, step]) => {
    const request = { ...stream, step }
    assert.deepStrictEqual(QuestionStream.batch(request), QuestionStream.batch(request))
  })

  it("epochs and seeds differ in their order", () => {
    const stream = { seed: 1, batchSize: 40, size: 40 }
    const orders = [epoch(stream, 0), epoch(stream, 1), epoch({ ...stream, seed: 2 }, 0)].map((order) => String(order))
    assert.strictEqual(new Set(orders).size, 3)
  })

  it("every question is as likely as any other to open an epoch", () => {
    const openers = Arr.makeBy(2400, (seed) => QuestionStream.batch({ seed, step: 1, batchSize: 1, size: 6 })[0])
    for (const index of Arr.range(0, 5))
      assert.approximately(openers.filter((opener) => opener === index).length / openers.length, 1 / 6, 0.03)
  })
})

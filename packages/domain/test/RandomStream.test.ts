import { assert, describe, it } from "@effect/vitest"
import { RandomStream } from "@inspo/domain"
import { Effect, Random, Schema } from "effect"

const Name = Schema.Array(Schema.Union([Schema.String, Schema.Int]))
const Seed = Schema.Natural

describe("RandomStream", () => {
  it.prop("a stream is its name: whatever was drawn before, it gives the same", [Seed, Name], ([seed, path]) => {
    const draws = Effect.all([Random.next, Random.nextInt, Random.shuffle([1, 2, 3, 4, 5])])
    const first = RandomStream.drawSync(seed, path, draws)
    RandomStream.drawSync(seed, [...path, "other"], Random.next)
    assert.deepStrictEqual(RandomStream.drawSync(seed, path, draws), first)
  })

  it.prop("another seed or another name is another stream", [Seed, Name, Name], ([seed, path, other]) => {
    const draw = (from: number, name: RandomStream.StreamPath) => RandomStream.drawSync(from, name, Random.next)
    assert.notStrictEqual(draw(seed, path), draw(seed + 1, path))
    if (JSON.stringify(path) !== JSON.stringify(other)) assert.notStrictEqual(draw(seed, path), draw(seed, other))
  })

  it("first draws of consecutive streams are uniform", () => {
    const firsts = Array.from({ length: 4000 }, (_, step) => RandomStream.drawSync(0, ["step", step], Random.next))
    const tenths = Array.from({ length: 10 }, (_, tenth) => firsts.filter((x) => Math.floor(10 * x) === tenth).length)
    // Four standard deviations of a binomial count with mean 400.
    for (const count of tenths) assert.approximately(count, 400, 4 * Math.sqrt(400 * 0.9))
  })
})

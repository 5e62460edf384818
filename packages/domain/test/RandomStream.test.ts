import { assert, describe, it } from "@effect/vitest"
import { RandomStream, SeededRandom } from "@inspo/domain"
import { Array as Arr, Effect, Random, Schema } from "effect"

const Name = Schema.Array(Schema.Union([Schema.String, Schema.Int]))
const Seed = Schema.Natural

const draws = ({ choice, next, nextIntBetween, shuffle }: RandomStream.RandomStream) => ({
  next: [next(), next()],
  nextIntBetween: [nextIntBetween(1, 6), nextIntBetween(-1_000_000, 1_000_000)],
  choice: choice(["a", "b", "c", "d", "e", "f", "g"]),
  shuffle: shuffle(Arr.range(0, 9)),
  later: Arr.lastNonEmpty(Arr.makeBy(600, next))
})

const drawsOfEffects = Effect.gen(function* () {
  return {
    next: [yield* Random.next, yield* Random.next],
    nextIntBetween: [yield* Random.nextIntBetween(1, 6), yield* Random.nextIntBetween(-1_000_000, 1_000_000)],
    choice: yield* Random.choice(["a", "b", "c", "d", "e", "f", "g"]),
    shuffle: yield* Random.shuffle(Arr.range(0, 9)),
    later: Arr.lastNonEmpty(
      Arr.makeBy(600, yield* Effect.map(Random.Random, (random) => () => random.nextDoubleUnsafe()))
    )
  }
})

/** What runs of every version draw. A change here changes the results of all of them, and breaks their resumption. */
const golden: ReadonlyArray<{
  readonly seed: number
  readonly path: RandomStream.StreamPath
  readonly draws: ReturnType<typeof draws>
  readonly nextInt: number
  readonly nextBoolean: ReadonlyArray<boolean>
}> = [
  {
    seed: 0,
    path: [],
    draws: {
      next: [0.1378379781602319, 0.4598745644746566],
      nextIntBetween: [5, 710260],
      choice: "d",
      shuffle: [2, 5, 1, 3, 9, 8, 0, 6, 4, 7],
      later: 0.19727053487056911
    },
    nextInt: -6524130986421299,
    nextBoolean: [false, false, true, true, true, true, true, true]
  },
  {
    seed: 1,
    path: ["assignment", 3],
    draws: {
      next: [0.7325687677090557, 0.3142835683446038],
      nextIntBetween: [1, -257596],
      choice: "a",
      shuffle: [4, 2, 9, 5, 8, 3, 6, 7, 1, 0],
      later: 0.7161074204693192
    },
    nextInt: 4189586462370075,
    nextBoolean: [true, false, false, false, false, false, false, true]
  },
  {
    seed: 7,
    path: ["questions", 0],
    draws: {
      next: [0.7987628255666832, 0.7786262259280655],
      nextIntBetween: [3, -951708],
      choice: "a",
      shuffle: [8, 7, 6, 3, 5, 9, 1, 4, 0, 2],
      later: 0.570868702535123
    },
    nextInt: 5382032599577085,
    nextBoolean: [true, true, false, false, false, false, false, true]
  },
  {
    seed: -3,
    path: ["größe", "東京", "🌊"],
    draws: {
      next: [0.4293448429432063, 0.408239302761605],
      nextIntBetween: [4, 501272],
      choice: "c",
      shuffle: [1, 5, 0, 8, 7, 3, 2, 6, 4, 9],
      later: 0.6150054691729943
    },
    nextInt: -1272810155971119,
    nextBoolean: [false, false, true, true, false, true, true, true]
  },
  {
    seed: 9007199254740991,
    path: ["long", "x".repeat(3000)],
    draws: {
      next: [0.9726237861254762, 0.02520235255107739],
      nextIntBetween: [3, -293147],
      choice: "a",
      shuffle: [5, 4, 7, 2, 0, 3, 9, 1, 8, 6],
      later: 0.7990605299417308
    },
    nextInt: 8514033228324511,
    nextBoolean: [true, false, false, false, false, true, true, false]
  }
]

describe("RandomStream", () => {
  it("draws the same numbers in every version, whatever generator effect has", () => {
    for (const known of golden) {
      const { seed, path } = known
      const inStream = SeededRandom.withStream(seed, path)
      assert.deepStrictEqual(draws(RandomStream.make(seed, path)), known.draws)
      assert.deepStrictEqual(Effect.runSync(inStream(drawsOfEffects)), known.draws)
      assert.strictEqual(Effect.runSync(inStream(Random.nextInt)), known.nextInt)
      const booleans = Effect.replicateEffect(Random.nextBoolean, 8)
      assert.deepStrictEqual(Effect.runSync(inStream(booleans)), known.nextBoolean)
    }
  })

  it.prop("a stream depends only on its name, whatever was drawn before", [Seed, Name], ([seed, path]) => {
    const first = draws(RandomStream.make(seed, path))
    RandomStream.make(seed, [...path, "other"]).next()
    assert.deepStrictEqual(draws(RandomStream.make(seed, path)), first)
  })

  it.prop("another seed or another name is another stream", [Seed, Name, Name], ([seed, path, other]) => {
    const draw = (from: number, name: RandomStream.StreamPath) => RandomStream.make(from, name).next()
    assert.notStrictEqual(draw(seed, path), draw(seed + 1, path))
    if (JSON.stringify(path) !== JSON.stringify(other)) assert.notStrictEqual(draw(seed, path), draw(seed, other))
  })

  it.prop("a shuffle keeps its elements, a choice is one of them", [Seed, Schema.Array(Schema.Int)], ([seed, all]) => {
    const stream = RandomStream.make(seed, [])
    const ordered = (elements: ReadonlyArray<number>) => elements.toSorted((a, b) => a - b)
    assert.deepStrictEqual(ordered(stream.shuffle(all)), ordered(all))
    if (Arr.isReadonlyArrayNonEmpty(all)) assert.include(all, stream.choice(all))
  })

  it("first draws of consecutive streams are uniform", () => {
    const firsts = Array.from({ length: 4000 }, (_, step) => RandomStream.make(0, ["step", step]).next())
    const tenths = Array.from({ length: 10 }, (_, tenth) => firsts.filter((x) => Math.floor(10 * x) === tenth).length)
    // Four standard deviations of a binomial count with mean 400.
    for (const count of tenths) assert.approximately(count, 400, 4 * Math.sqrt(400 * 0.9))
  })
})

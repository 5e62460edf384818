import { assert, describe, it } from "@effect/vitest"
import { World } from "@inspo/datasets"
import { Effect, Schema } from "effect"

const Size = Schema.Int.check(Schema.isBetween({ minimum: 2, maximum: 8 }))
const Sizes = Schema.Struct({ person: Size, town: Size, company: Size, river: Size })

const tokensOf = (text: string) => text.match(/\w+|[^\s\w]/gu) ?? []

describe("make", () => {
  it.effect.prop(
    "gives every entity exactly one value of the right type per relation",
    [Schema.Int, Sizes],
    (drawn) =>
      Effect.gen(function* () {
        const [seed, sizes] = drawn
        const world = yield* World.make(seed, sizes)
        const known = new Set(world.entities)
        for (const type of World.entityTypes) {
          assert.lengthOf(
            world.entities.filter((entity) => entity.type === type),
            sizes[type]
          )
        }
        for (const entity of world.entities) {
          const facts = World.factsOf(world, entity)
          assert.deepStrictEqual(
            facts.map((fact) => [fact.relation, fact.value.type]),
            World.relations[entity.type].map(([relation, type]) => [relation, type])
          )
          assert.isTrue(
            facts.every(({ value }) => value.name !== entity.name && (value.type === "year" || known.has(value))),
            entity.name
          )
        }
      }),
    { arbitrary: { runs: 20 } }
  )

  it.effect.prop(
    "gives names and ids once, and the same world for the same seed",
    [Schema.Int, Sizes],
    (drawn) =>
      Effect.gen(function* () {
        const [seed, sizes] = drawn
        const world = yield* World.make(seed, sizes)
        assert.lengthOf(new Set(world.entities.map((entity) => entity.name)), world.entities.length)
        assert.lengthOf(new Set(world.entities.map((entity) => entity.id)), world.entities.length)
        assert.deepStrictEqual(World.passages(yield* World.make(seed, sizes)), World.passages(world))
        assert.notDeepEqual(World.passages(yield* World.make(seed + 1, sizes)), World.passages(world))
      }),
    { arbitrary: { runs: 20 } }
  )

  it.effect("holds look-alikes: entities that share a word of their names", () =>
    Effect.gen(function* () {
      const world = yield* World.make(7)
      for (const type of World.entityTypes) {
        const names = world.entities.filter((entity) => entity.type === type).map((entity) => entity.name)
        const words = names.flatMap((name) => name.split(" "))
        assert.isBelow(new Set(words).size, words.length, type)
      }
    })
  )

  it.effect("says which size does not fit", () =>
    Effect.gen(function* () {
      for (const town of [1, 1601]) {
        const error = yield* Effect.flip(World.make(0, { person: 2, town, company: 2, river: 2 }))
        assert.strictEqual(error.message, `world: sizes.town is ${town}; expected 2 to 1600`)
      }
    })
  )
})

describe("article", () => {
  it.effect.prop(
    "has every fact once, in at most 24 tokens, all of the vocabulary",
    [Schema.Int, Sizes],
    (drawn) =>
      Effect.gen(function* () {
        const [seed, sizes] = drawn
        const world = yield* World.make(seed, sizes)
        const known = new Set([...World.vocabulary, ".", ","])
        for (const entity of world.entities) {
          const { id, text, title } = World.article(world, entity)
          const tokens = tokensOf(text)
          assert.deepStrictEqual([id, title], [entity.id, entity.name])
          assert.isTrue(
            /^[A-Z].*\.$/u.test(text) &&
              tokens.length <= 24 &&
              tokens.every((token) => known.has(token)) &&
              World.factsOf(world, entity).every((fact) => text.split(fact.value.name).length === 2),
            text
          )
        }
      }),
    { arbitrary: { runs: 20 } }
  )
})

describe("statement", () => {
  it.effect("names entity and value, in words of the vocabulary", () =>
    Effect.gen(function* () {
      const world = yield* World.make(7)
      const known = new Set([...World.vocabulary, "."])
      const texts = Array.from(world.facts.values())
        .flat()
        .filter((fact) => {
          const text = World.statement(fact)
          const isWellFormed = /^[A-Z].*\.$/u.test(text) && tokensOf(text).every((token) => known.has(token))
          return !(isWellFormed && text.includes(fact.entity.name) && text.includes(fact.value.name))
        })
        .map(World.statement)
      assert.deepStrictEqual(texts, [])
    })
  )
})

describe("vocabulary", () => {
  it("is sorted, without duplicates, and every entry is letters or digits only", () => {
    assert.deepStrictEqual(World.vocabulary, Array.from(new Set(World.vocabulary)).toSorted())
    assert.isTrue(World.vocabulary.every((word) => /^(?:\p{L}+|\p{N}+)$/u.test(word)))
  })
})

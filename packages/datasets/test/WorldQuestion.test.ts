import { assert, describe, it } from "@effect/vitest"
import { World, WorldQuestion } from "@inspo/datasets"
import { Effect, Random, Schema } from "effect"

const Part = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 }))
const Mix = Schema.Struct({ oneHop: Part, twoHop: Part, threeHop: Part, fourHop: Part, comparison: Part })
const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 8 }))
const Counts = Schema.Struct({ train: Count, validation: Count, test: Count })

const splits = ["train", "validation", "test"] as const

const tokensOf = (text: string) => text.match(/\w+|[^\s\w]/gu) ?? []

const sizes = { person: 16, town: 8, company: 8, river: 4 }

/** Every question of one kind in a world large enough for all phrasings. */
const everyQuestion = Effect.fnUntraced(function* (seed: number, kind: WorldQuestion.Kind) {
  const world = yield* World.make(seed, sizes)
  const questions = yield* Effect.forEach(WorldQuestion.puzzles(world, kind), (puzzle, index) =>
    WorldQuestion.word(puzzle, `${index}`)
  ).pipe(Random.withSeed(`${seed}`))
  return { world, questions, texts: new Map(World.passages(world).map(({ id, text }) => [id, text])) }
})

const chainKinds = ["oneHop", "twoHop", "threeHop", "fourHop"] as const

/** Says which questions break a law; one assertion, since there are thousands of them. */
const assertAll = (
  questions: ReadonlyArray<WorldQuestion.WorldQuestion>,
  law: (question: WorldQuestion.WorldQuestion) => boolean
) =>
  assert.deepStrictEqual(
    questions.filter((question) => !law(question)).map((question) => question.question),
    []
  )

describe("chains", () => {
  it.effect("lead from article to article, over entities that occur once", () =>
    Effect.gen(function* () {
      for (const [index, kind] of chainKinds.entries()) {
        const { questions, texts, world } = yield* everyQuestion(index, kind)
        assertAll(questions, ({ answer, decomposition, hops, supportIds }) => {
          const names = [...decomposition.map((fact) => fact.entity.name), answer.name]
          return (
            hops === index + 1 &&
            decomposition.length === hops &&
            new Set(names).size === names.length &&
            decomposition.every(
              (fact, hop) =>
                supportIds[hop] === fact.entity.id &&
                World.factsOf(world, fact.entity).includes(fact) &&
                fact.value.name === names[hop + 1] &&
                (texts.get(fact.entity.id) ?? "").includes(fact.value.name)
            )
          )
        })
      }
    })
  )

  it.effect("give the answer away neither in the question nor before the last article", () =>
    Effect.gen(function* () {
      for (const [index, kind] of chainKinds.entries()) {
        const { questions, texts } = yield* everyQuestion(10 + index, kind)
        assertAll(
          questions,
          ({ answer, decomposition, question, supportIds }) =>
            !question.includes(answer.name) &&
            question.includes(decomposition[0].entity.name) &&
            decomposition.slice(1).every((fact) => !question.includes(fact.entity.name)) &&
            supportIds.slice(0, -1).every((id) => !(texts.get(id) ?? answer.name).includes(answer.name))
        )
      }
    })
  )
})

describe("comparisons", () => {
  it.effect("name two entities and ask for the one whose year is right", () =>
    Effect.gen(function* () {
      const { questions } = yield* everyQuestion(20, "comparison")
      assertAll(questions, ({ answer, decomposition, question }) => {
        const [x, y = x] = decomposition
        const [older, younger] = x.value.name < y.value.name ? [x, y] : [y, x]
        const isOlder = /first|older/u.test(question)
        return (
          older.value.name < younger.value.name &&
          older.entity.type === younger.entity.type &&
          question.includes(older.entity.name) &&
          question.includes(younger.entity.name) &&
          isOlder !== /later|younger/u.test(question) &&
          answer === (isOlder ? older : younger).entity
        )
      })
    })
  )
})

describe("word", () => {
  it.effect(
    "writes questions of at most 24 tokens, all of the vocabulary, with the answer first among the golden",
    () =>
      Effect.gen(function* () {
        const known = new Set([...World.vocabulary, ",", "?"])
        for (const [index, kind] of WorldQuestion.kinds.entries()) {
          const { questions } = yield* everyQuestion(30 + index, kind)
          assertAll(questions, ({ answer, dataSource, goldenAnswers, question }) => {
            const tokens = tokensOf(question)
            return (
              /^[A-Z].*\?$/u.test(question) &&
              tokens.length <= 24 &&
              tokens.every((token) => known.has(token)) &&
              dataSource === WorldQuestion.dataSources[kind] &&
              goldenAnswers[0] === answer.name &&
              goldenAnswers.length > 1 &&
              goldenAnswers.every((alias) => answer.name.split(" ").every((word) => alias.includes(word)))
            )
          })
        }
      })
  )
})

describe("generate", () => {
  it.effect.prop(
    "fills every split with the shares of the mix",
    [Schema.Int, Mix, Counts],
    ([seed, mix, counts]) =>
      Effect.gen(function* () {
        const total = WorldQuestion.kinds.reduce((sum, kind) => sum + mix[kind], 0)
        if (total === 0) return
        const { questions } = yield* WorldQuestion.generate({ seed, sizes, mix, counts })
        for (const split of splits) {
          assert.lengthOf(questions[split], counts[split])
          for (const kind of WorldQuestion.kinds) {
            const actual = questions[split].filter((question) => question.kind === kind).length
            assert.isBelow(Math.abs(actual - (counts[split] * mix[kind]) / total), 1)
          }
        }
      }),
    { arbitrary: { runs: 20 } }
  )

  it.effect.prop(
    "repeats no question and no set of facts, and gives the same for the same seed",
    [Schema.Int],
    (drawn) =>
      Effect.gen(function* () {
        const [seed] = drawn
        const options = { seed, sizes, counts: { train: 40, validation: 10, test: 20 } }
        const { questions } = yield* WorldQuestion.generate(options)
        const all = splits.flatMap((split) => questions[split])
        const facts = all.map((question) => question.decomposition.map(World.statement).join())
        const texts = all.map((question) => question.question)
        for (const keys of [all.map((question) => question.id), texts, facts]) {
          assert.lengthOf(new Set(keys), all.length)
        }
        const again = (yield* WorldQuestion.generate(options)).questions
        assert.deepStrictEqual(
          splits.flatMap((split) => again[split].map((question) => question.question)),
          texts
        )
      }),
    { arbitrary: { runs: 20 } }
  )

  it.effect("says which kind a world cannot give often enough", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        WorldQuestion.generate({
          seed: 7,
          sizes: { person: 60, town: 24, company: 24, river: 12 },
          mix: { oneHop: 1, twoHop: 0, threeHop: 0, fourHop: 0, comparison: 0 },
          counts: { train: 300, validation: 30, test: 30 }
        })
      )
      assert.strictEqual(error.value, "360")
      assert.match(error.message, /number of oneHop questions.+expected at most 336, which the world has/u)
    })
  )

  it.effect("refuses a mix without shares", () =>
    Effect.gen(function* () {
      const mix = { oneHop: 0, twoHop: 0, threeHop: 0, fourHop: 0, comparison: 0 }
      const error = yield* Effect.flip(WorldQuestion.generate({ seed: 7, mix }))
      assert.include(error.message, "every share of mix is 0")
    })
  )
})

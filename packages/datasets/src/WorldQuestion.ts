import { Question, SeededRandom } from "@inspo/domain"
import { Array, Effect, Random, Schema } from "effect"
import * as Templates from "./internal/templates.ts"
import { apportion } from "./Sample.ts"
import * as World from "./World.ts"

/** The kinds of question: chains of one to four facts, and the comparison of two years. */
export const kinds = ["oneHop", "twoHop", "threeHop", "fourHop", "comparison"] as const
export type Kind = (typeof kinds)[number]

/** A question about a world with the facts that answer it. */
export interface WorldQuestion extends Question.Question {
  readonly kind: Kind
  readonly hops: number
  readonly supportIds: ReadonlyArray<string>
  /** The facts to find: in hop order for a chain, in the order of mention for a comparison. */
  readonly decomposition: readonly [World.Fact, ...ReadonlyArray<World.Fact>]
  readonly answer: World.Entity | World.Year
}

/**
 * A question before it is put in words. In a chain each fact's value is the next fact's entity, no entity occurs
 * twice, and only the last article contains the last value. A comparison holds two facts `founded` with
 * different years.
 */
export interface Puzzle {
  readonly kind: Kind
  readonly facts: readonly [World.Fact, ...ReadonlyArray<World.Fact>]
}

const Share = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** The relative share of each kind of question. */
export const Mix = Schema.Struct({
  oneHop: Share.annotate({ description: "Questions that take one search" }),
  twoHop: Share.annotate({ description: "Questions that take two" }),
  threeHop: Share.annotate({ description: "Questions that take three" }),
  fourHop: Share.annotate({ description: "Questions that take four" }),
  comparison: Share.annotate({ description: "Questions that compare two entities" })
})
export interface Mix extends Schema.Schema.Type<typeof Mix> {}

export const defaultMix: Mix = { oneHop: 0.35, twoHop: 0.35, threeHop: 0.15, fourHop: 0.05, comparison: 0.1 }

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** How many questions each split has. */
export const Counts = Schema.Struct({
  train: Count.annotate({ description: "Questions to train on" }),
  validation: Count.annotate({ description: "Questions to choose a policy by" }),
  test: Count.annotate({ description: "Questions of the final table" })
})
export interface Counts extends Schema.Schema.Type<typeof Counts> {}

export const defaultCounts: Counts = { train: 1000, validation: 100, test: 500 }

export interface Options {
  readonly seed: number
  readonly sizes?: World.Sizes
  readonly mix?: Mix
  readonly counts?: Counts
}

/** A corpus and the questions it answers, in splits that share no puzzle. */
export interface Generated {
  readonly world: World.World
  readonly passages: ReadonlyArray<Question.Passage>
  readonly questions: {
    readonly train: ReadonlyArray<WorldQuestion>
    readonly validation: ReadonlyArray<WorldQuestion>
    readonly test: ReadonlyArray<WorldQuestion>
  }
}

/** Draws a world and questions about it in the shares of `mix`; no two ask for the same facts. Equal options give equal results. */
export const generate = Effect.fn("WorldQuestion.generate")(function* (
  options: Options
): Effect.fn.Return<Generated, World.WorldError> {
  const { seed, counts = defaultCounts, mix = defaultMix } = options
  if (kinds.every((kind) => mix[kind] === 0)) {
    return yield* new World.WorldError({
      field: "every share of mix",
      value: "0",
      expected: "a positive share of at least one kind"
    })
  }
  const world = yield* World.make(seed, options.sizes)
  const quotas = {
    train: quota(mix, counts.train),
    validation: quota(mix, counts.validation),
    test: quota(mix, counts.test)
  }
  const splits: Record<keyof Counts, Array<WorldQuestion>> = { train: [], validation: [], test: [] }
  for (const kind of kinds) {
    const needed = quotas.train[kind] + quotas.validation[kind] + quotas.test[kind]
    const available = needed === 0 ? [] : puzzles(world, kind)
    if (needed > available.length) {
      return yield* new World.WorldError({
        field: `the number of ${kind} questions that counts and mix ask for`,
        value: String(needed),
        expected: `at most ${available.length}, which the world has; lower counts or mix.${kind}, or raise sizes`
      })
    }
    const worded = yield* Random.shuffle(available).pipe(
      Effect.map(Array.take(needed)),
      Effect.flatMap(Effect.forEach((puzzle, index) => word(puzzle, `world-${seed}/${kind}/${index}`))),
      SeededRandom.withStream(seed, ["questions", kind])
    )
    let start = 0
    for (const split of splitNames) {
      splits[split].push(...worded.slice(start, start + quotas[split][kind]))
      start += quotas[split][kind]
    }
  }
  const shuffle = (split: keyof Counts) =>
    Random.shuffle(splits[split]).pipe(SeededRandom.withStream(seed, ["questions", split]))
  return {
    world,
    passages: World.passages(world),
    questions: {
      train: yield* shuffle("train"),
      validation: yield* shuffle("validation"),
      test: yield* shuffle("test")
    }
  }
})

/** All puzzles of a kind in a world, in a fixed order. */
export const puzzles = (world: World.World, kind: Kind): ReadonlyArray<Puzzle> =>
  kind === "comparison" ? comparisons(world) : chains(world, kind)

/** Puts a puzzle in words: draws the phrasings of its relations and the direction of a comparison. */
export const word = Effect.fnUntraced(function* (puzzle: Puzzle, id: string) {
  const { question, answer } =
    puzzle.kind === "comparison" ? yield* wordComparison(puzzle.facts) : yield* wordChain(puzzle.facts)
  return {
    id: Question.QuestionId.make(id),
    question: Templates.sentence(question),
    goldenAnswers: [answer.name, ...aliasesOf(answer)],
    dataSource: dataSources[puzzle.kind],
    kind: puzzle.kind,
    hops: puzzle.facts.length,
    supportIds: puzzle.facts.map((fact) => fact.entity.id),
    decomposition: puzzle.facts,
    answer
  } satisfies WorldQuestion
})

/** The data source of each kind: the strata in which results are reported. */
export const dataSources = {
  oneHop: "world-1hop",
  twoHop: "world-2hop",
  threeHop: "world-3hop",
  fourHop: "world-4hop",
  comparison: "world-comparison"
} as const satisfies Record<Kind, string>

const splitNames = ["train", "validation", "test"] as const

const hopsOf = { oneHop: 1, twoHop: 2, threeHop: 3, fourHop: 4 } as const

const quota = (mix: Mix, count: number): Readonly<Record<Kind, number>> => {
  const parts = apportion(
    kinds.map((kind) => mix[kind]),
    count
  )
  const [oneHop = 0, twoHop = 0, threeHop = 0, fourHop = 0, comparison = 0] = parts
  return { oneHop, twoHop, threeHop, fourHop, comparison }
}

const chains = (world: World.World, kind: Exclude<Kind, "comparison">): ReadonlyArray<Puzzle> => {
  const hops = hopsOf[kind]
  const texts = new Map(World.passages(world).map((passage) => [passage.id, passage.text]))
  const found: Array<Puzzle> = []
  const extend = (path: Puzzle["facts"]): void => {
    const end = path[path.length - 1] ?? path[0]
    if (path.some((fact) => fact.entity.name === end.value.name)) return
    if (path.length < hops) {
      if (end.value.type !== "year") for (const fact of World.factsOf(world, end.value)) extend([...path, fact])
      return
    }
    const isTold = path.slice(0, -1).some((fact) => texts.get(fact.entity.id)?.includes(end.value.name) ?? false)
    if (!isTold) found.push({ kind, facts: path })
  }
  for (const entity of world.entities) for (const fact of World.factsOf(world, entity)) extend([fact])
  return found
}

const comparisons = (world: World.World): ReadonlyArray<Puzzle> => {
  const founded = world.entities.flatMap((entity) =>
    World.factsOf(world, entity).filter((fact) => fact.relation === "founded")
  )
  return founded.flatMap((a, index) =>
    founded
      .slice(index + 1)
      .filter((b) => a.entity.type === b.entity.type && a.value.name !== b.value.name)
      .map((b): Puzzle => ({ kind: "comparison", facts: [a, b] }))
  )
}

const wordChain = Effect.fnUntraced(function* (facts: Puzzle["facts"]) {
  let subject = World.mention(facts[0].entity)
  for (const { relation } of facts.slice(0, -1)) {
    // Only an entity has relations, so no inner link is a year.
    if (relation !== "founded")
      subject = Templates.fill(yield* Random.choice(Templates.descriptions[relation]), { x: subject })
  }
  const last = facts[facts.length - 1] ?? facts[0]
  return {
    question: Templates.fill(yield* Random.choice(Templates.questions[last.relation]), { x: subject }),
    answer: last.value
  }
})

const wordComparison = Effect.fnUntraced(function* (facts: Puzzle["facts"]) {
  const [x, y = x] = facts
  const order = (yield* Random.nextBoolean) ? "first" : "later"
  const isX = order === "first" ? x.value.name < y.value.name : x.value.name > y.value.name
  return {
    question: Templates.fill(yield* Random.choice(Templates.comparisons[order]), {
      x: World.mention(x.entity),
      y: World.mention(y.entity)
    }),
    answer: isX ? x.entity : y.entity
  }
})

const aliasesOf = (answer: World.Entity | World.Year): ReadonlyArray<string> => {
  const [first = "", last = ""] = answer.name.split(" ")
  return Templates.aliases[answer.type].map((alias) => Templates.fill(alias, { first, last }))
}

import { Problem, type Question, SeededRandom } from "@inspo/domain"
import { Array, Effect, Random, Schema, String } from "effect"
import { names } from "./internal/names.ts"
import * as Templates from "./internal/templates.ts"

/** A fictional world of entities with facts. Every relation has one value, so a question that chains relations has one answer. */
export interface World {
  readonly seed: number
  readonly entities: ReadonlyArray<Entity>
  /** The facts of each entity by id, in the order of {@link relations}. */
  readonly facts: ReadonlyMap<string, ReadonlyArray<Fact>>
}

/** A person, town, company or river; `name` is two words and unique in its world, `id` names the entity's article. */
export interface Entity {
  readonly id: string
  readonly type: EntityType
  readonly name: string
}

/** A year as the value of a relation: four digits. */
export interface Year {
  readonly type: "year"
  readonly name: string
}

/** `relation` of `entity` is `value`. */
export interface Fact {
  readonly entity: Entity
  readonly relation: Relation
  readonly value: Entity | Year
}

export type EntityType = keyof typeof names
export type Relation = keyof typeof Templates.statements

/** The relations of each type of entity with the type of their value. */
export const relations: Readonly<Record<EntityType, ReadonlyArray<readonly [Relation, EntityType | "year"]>>> = {
  person: [
    ["birthplace", "town"],
    ["employer", "company"],
    ["teacher", "person"]
  ],
  town: [
    ["founded", "year"],
    ["river", "river"],
    ["mayor", "person"]
  ],
  company: [
    ["founder", "person"],
    ["founded", "year"],
    ["headquarters", "town"]
  ],
  river: [["source", "town"]]
}

/** The types of entity, in corpus order. */
export const entityTypes = ["person", "town", "company", "river"] as const satisfies ReadonlyArray<EntityType>

/** The years in which towns and companies were founded. */
export const years: Array.NonEmptyReadonlyArray<Year> = Array.map(Array.range(1840, 1899), (year) => ({
  type: "year",
  name: `${year}`
}))

/** How many entities of each type a world has. */
export const Sizes = Schema.Struct({
  person: Schema.Int.annotate({ description: "People" }),
  town: Schema.Int.annotate({ description: "Towns" }),
  company: Schema.Int.annotate({ description: "Companies" }),
  river: Schema.Int.annotate({ description: "Rivers" })
})
export interface Sizes extends Schema.Schema.Type<typeof Sizes> {}

export const defaultSizes: Sizes = { person: 120, town: 40, company: 40, river: 20 }

/** A world or its questions cannot be generated: `field` has an invalid value. */
export class WorldError extends Schema.TaggedError<WorldError>()("WorldError", Problem.fields) {
  override get message() {
    return `world: ${Problem.words(this)}`
  }
}

/** Draws a world. Equal seeds and sizes give equal worlds; other seeds give hold-out worlds in which the same words name other entities. */
export const make = Effect.fnUntraced(function* (
  seed: number,
  sizes: Sizes = defaultSizes
): Effect.fn.Return<World, WorldError> {
  for (const type of entityTypes) {
    const [first, last] = names[type]
    const largest = first.length * last.length
    if (sizes[type] < 2 || sizes[type] > largest) {
      return yield* new WorldError({ field: `sizes.${type}`, value: `${sizes[type]}`, expected: `2 to ${largest}` })
    }
  }
  return yield* drawWorld(seed, sizes).pipe(SeededRandom.withStream(seed, ["world"]))
})

/** The facts of an entity; empty for an entity of another world. */
export const factsOf = (world: World, entity: Entity): ReadonlyArray<Fact> => world.facts.get(entity.id) ?? []

/** The article of an entity: one sentence with all its facts. */
export const article = (world: World, entity: Entity): Question.Passage => ({
  id: entity.id,
  title: entity.name,
  text: Templates.sentence(
    Templates.fill(Templates.articles[entity.type], {
      self: mention(entity),
      ...Object.fromEntries(factsOf(world, entity).map((fact) => [fact.relation, mention(fact.value)]))
    })
  )
})

/** The corpus of a world: one article per entity. */
export const passages = (world: World): ReadonlyArray<Question.Passage> =>
  world.entities.map((entity) => article(world, entity))

/** One fact as a short sentence, such as `The mayor of Ostrel Bay is Marlen Tovik.` */
export const statement = (fact: Fact): string =>
  Templates.sentence(
    Templates.fill(Templates.statements[fact.relation], { x: mention(fact.entity), y: mention(fact.value) })
  )

/** The name of a value within a sentence: rivers as `the river Ulva Sedge`, all others by their name. */
export const mention = (value: Entity | Year): string =>
  value.type === "year" ? value.name : Templates.fill(Templates.mentions[value.type], { x: value.name })

/** All words that articles, statements and questions of any world consist of, sorted; punctuation left out. */
export const vocabulary: ReadonlyArray<string> = Array.sort(
  Array.dedupe([...Object.values(names).flat(2), ...years.map((year) => year.name), ...Templates.words]),
  String.Order
)

const drawWorld = Effect.fnUntraced(function* (seed: number, sizes: Sizes) {
  const byType = {
    person: yield* drawEntities("person", sizes.person),
    town: yield* drawEntities("town", sizes.town),
    company: yield* drawEntities("company", sizes.company),
    river: yield* drawEntities("river", sizes.river)
  }
  const entities = entityTypes.flatMap((type) => byType[type])
  const facts = new Map<string, ReadonlyArray<Fact>>()
  for (const entity of entities) {
    facts.set(
      entity.id,
      yield* Effect.forEach(
        relations[entity.type],
        Effect.fnUntraced(function* ([relation, target]): Effect.fn.Return<Fact> {
          const value = target === "year" ? yield* Random.choice(years) : yield* drawOther(entity, byType[target])
          return { entity, relation, value }
        })
      )
    )
  }
  return { seed, entities, facts }
})

const drawEntities = (type: EntityType, size: number): Effect.Effect<ReadonlyArray<Entity>> => {
  const [first, last] = names[type]
  return Random.shuffle(Array.cartesian(first, last)).pipe(
    Effect.map(Array.take(size)),
    Effect.map(Array.map(([a, b], index) => ({ id: `${type}-${index}`, type, name: `${a} ${b}` })))
  )
}

/** Any entity but this one: no one is their own teacher. */
const drawOther = (entity: Entity, pool: ReadonlyArray<Entity>): Effect.Effect<Entity> =>
  // Sizes of at least 2 leave another entity.
  Effect.orDie(Random.choice(pool.filter((other) => other.id !== entity.id)))

import { World } from "@inspo/datasets"
import { Effect, Random } from "effect"
import type { Segment } from "./Demonstration.ts"

/**
 * A reading exercise: a few articles, then their facts in random order. It trains copying names from among similar ones,
 * which questions alone contain too rarely. It has no prompt, so it does not train how to answer a question.
 */
export const exercise = Effect.fnUntraced(function* (world: World.World): Effect.fn.Return<ReadonlyArray<Segment>> {
  const count = yield* Random.nextIntBetween(1, mostArticles)
  const entities = (yield* Random.shuffle(world.entities)).slice(0, count)
  const facts = yield* Random.shuffle(entities.flatMap((entity) => World.factsOf(world, entity)))
  return [
    ...entities.map((entity): Segment => ({
      text: `<information> ${World.article(world, entity).text}</information>`,
      action: false
    })),
    ...facts.map((fact): Segment => ({ text: `<think> ${World.statement(fact)}</think>`, action: true }))
  ]
})

const mostArticles = 4

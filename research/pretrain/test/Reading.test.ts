import { assert, describe, it } from "@effect/vitest"
import { World } from "@inspo/datasets"
import { Effect } from "effect"
import { exercise } from "../src/Reading.ts"

describe("exercise", () => {
  it.effect("shows one to four articles, then states each of their facts once", () =>
    Effect.gen(function* () {
      const world = yield* World.make(7)
      for (const segments of yield* Effect.all(Array.from({ length: 50 }, () => exercise(world)))) {
        const shown = segments.filter((segment) => !segment.action).map((segment) => segment.text)
        const entities = world.entities.filter((entity) =>
          shown.includes(`<information> ${World.article(world, entity).text}</information>`)
        )
        assert.lengthOf(entities, shown.length)
        assert.isTrue(shown.length >= 1 && shown.length <= 4)
        assert.sameMembers(
          segments.slice(shown.length).map((segment) => segment.text),
          entities
            .flatMap((entity) => World.factsOf(world, entity))
            .map((fact) => `<think> ${World.statement(fact)}</think>`)
        )
      }
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Instruction } from "@inspo/domain"
import { Population, PopulationRef } from "@inspo/population"
import { Arbitrary, Effect } from "effect"
import { Populations } from "@inspo/population/testing"

const histories = Arbitrary.schema(Populations.History)

describe("PopulationRef", () => {
  it.effect.prop("is what the pure functions make of the same steps", [histories], ([history]) =>
    Effect.gen(function* () {
      const held = yield* PopulationRef.PopulationRef
      for (const [index, groups] of history.steps.entries())
        yield* held.observe(
          index + 1,
          groups
            .filter(({ member }) => member < history.members)
            .map(({ member, ...group }) => ({ ...group, instructionId: Populations.instruction(member).id }))
        )
      const pure = Populations.lived({ ...history, resets: false, entrants: 0 }, valuation.observe)
      assert.deepStrictEqual(yield* held.get, pure)
      assert.deepStrictEqual(yield* held.values, valuation.values(pure))
      assert.deepStrictEqual(yield* held.best, valuation.best(pure))
      yield* held.add([{ instruction: Populations.instruction(7) }])
      assert.deepStrictEqual(Population.ids(yield* held.get), [...Population.ids(pure), Populations.instruction(7).id])
      yield* held.remove([Populations.instruction(7).id])
      assert.deepStrictEqual(Population.ids(yield* held.get), Population.ids(pure))
    }).pipe(
      Effect.provide(
        PopulationRef.layerRef(
          Array.from({ length: history.members }, (_, index) => Populations.instruction(index)),
          valuation
        )
      )
    )
  )

  it.effect("refuses what the pure functions refuse, and stays as it is", () =>
    Effect.gen(function* () {
      const held = yield* PopulationRef.PopulationRef
      const before = yield* held.get
      assert.strictEqual((yield* Effect.flip(held.remove([Instruction.InstructionId.make("i9")]))).field, "id")
      assert.strictEqual(yield* held.get, before)
    }).pipe(Effect.provide(PopulationRef.layerRef(["Answer."])))
  )
})

const valuation = Population.recentSteps({ window: 3 })

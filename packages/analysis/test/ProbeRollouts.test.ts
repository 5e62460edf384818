import { assert, describe, it } from "@effect/vitest"
import type { Algorithm } from "@inspo/coevolution"
import { ProbeRollouts } from "@inspo/analysis"
import { layerMemory } from "@inspo/journal/sqlite"
import { Ledger } from "@inspo/ledger"
import { Effect, Schema } from "effect"
import { algorithm as base, make } from "../../coevolution/test/support/ScriptedRun.ts"

const algorithm: Algorithm = { ...base, population: { ...base.population, size: 3, parents: 1 } }
const { groupSize } = algorithm.rollout

const probe = (groups: number, more: Partial<ProbeRollouts.Options> = {}) =>
  Effect.gen(function* () {
    const { data, services } = yield* make(algorithm)
    const found = yield* ProbeRollouts.probe({ algorithm, data, groups, runGroups: 100, trains: true, ...more }).pipe(
      Effect.provide(services),
      Effect.provide(layerMemory, { local: true })
    )
    return { data, ...found }
  })

describe("probe", () => {
  it.effect.prop(
    "asks an instruction no question twice, the variants those of the seed, and makes no more groups than it may",
    [Schema.Literals([12, 13, 24, 300]), Schema.Literals([6, 100_000])],
    ([groups, runGroups]) =>
      Effect.gen(function* () {
        const { data, instructions, ...found } = yield* probe(groups, { runGroups })
        assert.isAtMost(found.groups.length, groups)
        assert.lengthOf(instructions, 3)
        const asked = instructions.map(({ id }) =>
          found.groups.flatMap(({ instructionId, questionId }) => (instructionId === id ? [questionId] : []))
        )
        for (const own of asked) {
          assert.lengthOf(new Set(own), own.length)
          assert.includeMembers(asked[0] ?? [], own)
        }
        for (const { rewards } of found.groups) assert.lengthOf(rewards, groupSize)
        if (groups === 300) assert.lengthOf(asked[0] ?? [], data.train.length)
      }),
    { arbitrary: { runs: 8 } }
  )

  it.effect("gives the seed what it needs to show whether training starts", () =>
    Effect.gen(function* () {
      const { groups, instructions } = yield* probe(24, { runGroups: 1 })
      const [seed] = instructions
      assert.lengthOf(
        groups.filter(({ instructionId }) => instructionId === seed.id),
        4 + 12
      )
      const frozen = yield* probe(24, { runGroups: 1, trains: false })
      assert.lengthOf(
        frozen.groups.filter(({ instructionId }) => instructionId === seed.id),
        4 + 4
      )
    })
  )

  it.effect("is the same again", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* probe(12)).groups, (yield* probe(12)).groups)
    })
  )

  it.effect("begins no rollout that could pass the budget", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(probe(12, { budget: { ...Ledger.unlimited, rollouts: 12 * groupSize - 1 } }))
      assert.strictEqual(error._tag, "BudgetReached")
      yield* probe(12, { budget: { ...Ledger.unlimited, rollouts: 12 * groupSize } })
    })
  )
})

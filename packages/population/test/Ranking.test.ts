import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Population, Ranking } from "@inspo/population"
import { instruction } from "./Histories.ts"

/** Few distinct values, so that ties are common. */
const Entries = Schema.Array(
  Schema.Struct({
    weight: Schema.Literals([0, 0.5, 1]),
    groups: Schema.Literals([0, 3]),
    bornAt: Schema.Literals([0, 15])
  })
).check(Schema.isMaxLength(8))

const setUp = (entries: typeof Entries.Type) => ({
  population: {
    ...Population.make([]),
    members: entries.map(({ groups, bornAt }, index): Population.Member => ({
      instruction: instruction(index, { bornAt }),
      entry: 1,
      window: [],
      weight: null,
      stale: false,
      lifetime: { ...Population.unobserved, groups, trajectories: groups },
      verification: null
    }))
  },
  weights: entries.map(({ weight }, index) => ({ id: instruction(index).id, weight }))
})

const weightOf = (weights: ReadonlyArray<Population.Weight>, member: Population.Member | undefined) =>
  weights.find(({ id }) => id === member?.instruction.id)?.weight ?? NaN

describe("Ranking", () => {
  for (const [name, rank] of Object.entries({ stable: Ranking.stable, explored: Ranking.explored }))
    it.prop(`${name} is a permutation in descending order of weight`, [Entries], ([entries]) => {
      const { population, weights } = setUp(entries)
      const ranked = rank(population, weights)
      assert.sameMembers([...ranked], [...population.members])
      for (const [index, member] of ranked.slice(1).entries())
        assert.isAtMost(weightOf(weights, member), weightOf(weights, ranked[index]))
    })

  it.prop("stable keeps the order of the population among equals", [Entries], ([entries]) => {
    const { population, weights } = setUp(entries)
    const ranked = Ranking.stable(population, weights)
    for (const [index, member] of ranked.slice(1).entries()) {
      const before = ranked[index]
      if (before === undefined || weightOf(weights, before) !== weightOf(weights, member)) continue
      assert.isBelow(population.members.indexOf(before), population.members.indexOf(member))
    }
  })

  it.prop("explored puts more groups first among equals, then the older", [Entries], ([entries]) => {
    const { population, weights } = setUp(entries)
    const ranked = Ranking.explored(population, weights)
    for (const [index, member] of ranked.slice(1).entries()) {
      const before = ranked[index]
      if (before === undefined || weightOf(weights, before) !== weightOf(weights, member)) continue
      assert.isAtLeast(before.lifetime.groups, member.lifetime.groups)
      if (before.lifetime.groups === member.lifetime.groups)
        assert.isAtMost(before.instruction.bornAt, member.instruction.bornAt)
    }
  })

  it.prop("explored does not depend on the order of population or weights", [Entries], ([entries]) => {
    const { population, weights } = setUp(entries)
    const reversed = { ...population, members: population.members.toReversed() }
    assert.deepStrictEqual(Ranking.explored(reversed, weights.toReversed()), Ranking.explored(population, weights))
  })
})

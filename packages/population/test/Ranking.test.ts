import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Population, Ranking } from "@inspo/population"
import { instruction } from "./Histories.ts"

/** Few distinct values, so that ties are common. */
const Entries = Schema.Array(
  Schema.Struct({
    value: Schema.Literals([0, 0.5, 1]),
    groups: Schema.Literals([0, 3]),
    bornAt: Schema.Literals([0, 15])
  })
).check(Schema.isMaxLength(8))

const setUp = (entries: typeof Entries.Type) => ({
  population: {
    ...Population.begin([]),
    members: entries.map(({ groups, bornAt }, index): Population.Member => ({
      instruction: instruction(index, { bornAt }),
      window: [],
      value: null,
      stale: false,
      lifetime: { ...Population.unobserved, groups, trajectories: groups },
      verification: null
    }))
  },
  values: entries.map(({ value }, index) => ({ id: instruction(index).id, value }))
})

const valueOf = (values: ReadonlyArray<Population.Value>, member: Population.Member | undefined) =>
  values.find(({ id }) => id === member?.instruction.id)?.value ?? NaN

describe("Ranking", () => {
  for (const [name, rank] of Object.entries({ stable: Ranking.stable, explored: Ranking.explored }))
    it.prop(`${name} is a permutation in descending order of value`, [Entries], ([entries]) => {
      const { population, values } = setUp(entries)
      const ranked = rank(population, values)
      assert.sameMembers([...ranked], [...population.members])
      for (const [index, member] of ranked.slice(1).entries())
        assert.isAtMost(valueOf(values, member), valueOf(values, ranked[index]))
    })

  it.prop("stable keeps the order of the population among equals", [Entries], ([entries]) => {
    const { population, values } = setUp(entries)
    const ranked = Ranking.stable(population, values)
    for (const [index, member] of ranked.slice(1).entries()) {
      const before = ranked[index]
      if (before === undefined || valueOf(values, before) !== valueOf(values, member)) continue
      assert.isBelow(population.members.indexOf(before), population.members.indexOf(member))
    }
  })

  it.prop("explored puts more groups first among equals, then the older", [Entries], ([entries]) => {
    const { population, values } = setUp(entries)
    const ranked = Ranking.explored(population, values)
    for (const [index, member] of ranked.slice(1).entries()) {
      const before = ranked[index]
      if (before === undefined || valueOf(values, before) !== valueOf(values, member)) continue
      assert.isAtLeast(before.lifetime.groups, member.lifetime.groups)
      if (before.lifetime.groups === member.lifetime.groups)
        assert.isAtMost(before.instruction.bornAt, member.instruction.bornAt)
    }
  })

  it.prop("explored does not depend on the order of population or values", [Entries], ([entries]) => {
    const { population, values } = setUp(entries)
    const reversed = { ...population, members: population.members.toReversed() }
    assert.deepStrictEqual(Ranking.explored(reversed, values.toReversed()), Ranking.explored(population, values))
  })
})

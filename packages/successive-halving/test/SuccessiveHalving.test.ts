import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type Instruction, InstructionId } from "@inspo/domain/Instruction"
import { Population } from "@inspo/population"
import { SuccessiveHalving, SuccessiveHalvingPolicy } from "@inspo/successive-halving"

/** Few distinct values, so that ties are common. */
const Entry = Schema.Struct({
  weight: Schema.Literals([0, 0.2, 0.4, 0.6, 0.8, 1]),
  groups: Schema.Literals([0, 2, 4, 9]),
  bornAt: Schema.Literals([0, 15])
})
const Entries = Schema.Array(Entry).check(Schema.isMaxLength(9))
type Entries = typeof Entries.Type

const Options = Schema.Struct({
  parents: Schema.Literals([1, 2, 3]),
  floor: Schema.Literals([0, 1, 4]),
  minimumGroups: Schema.Literals([0, 3, 5])
})

const id = (index: number) => InstructionId.make(`i${index}`)

const instruction = (index: number, bornAt: number): Instruction => ({
  id: id(index),
  text: `instruction ${index}`,
  generation: 0,
  parent: null,
  origin: "variant",
  bornAt
})

const member = (entry: typeof Entry.Type, index: number): Population.Member => ({
  instruction: instruction(index, entry.bornAt),
  window: [],
  // Not what `weights` says: only the argument may count.
  weight: 1 - entry.weight,
  stale: false,
  lifetime: { groups: entry.groups, trajectories: entry.groups, rewardSum: 0, groupMeanSum: 0, groupMeanSquareSum: 0 },
  verification: null
})

const setUp = (entries: Entries) => ({
  population: { members: entries.map(member) },
  weights: entries.map(({ weight }, index) => ({ id: id(index), weight }))
})

const prune = (policy: SuccessiveHalving.Policy, entries: Entries) => {
  const { population, weights } = setUp(entries)
  return policy.prune(population, weights)
}

const find = (entries: Entries, wanted: InstructionId) => entries.find((_, index) => id(index) === wanted)

const policies = (options: typeof Options.Type) => [
  SuccessiveHalving.paper({ parents: options.parents }),
  SuccessiveHalving.robust(options)
]

describe("prune", () => {
  it.prop("keeps and prunes exactly the population, each member once", [Entries, Options], ([entries, options]) => {
    for (const policy of policies(options)) {
      const { kept, pruned, spared } = prune(policy, entries)
      assert.sameMembers(
        [...kept, ...pruned.map((one) => one.id)],
        entries.map((_, index) => id(index))
      )
      assert.includeMembers([...kept], [...spared])
    }
  })

  it.prop("drops ⌊size / 2⌋, clamped to N_parent", [Entries, Options], ([entries, { parents }]) => {
    const size = entries.length
    const { pruned } = prune(SuccessiveHalving.paper({ parents }), entries)
    assert.strictEqual(pruned.length, Math.max(0, Math.min(Math.floor(size / 2), size - parents)))
  })

  it.prop(
    "repeated, it takes 7 to 4, 2, 1 and stays there",
    [Schema.Tuple([Entry, Entry, Entry, Entry, Entry, Entry, Entry])],
    ([entries]) => {
      const policy = SuccessiveHalving.paper({ parents: 1 })
      const { population, weights } = setUp(entries)
      let current: Population.Population = population
      const sizes = [4, 2, 1, 1].map(() => {
        current = Population.remove(
          current,
          policy.prune(current, weights).pruned.map((one) => one.id)
        )
        return current.members.length
      })
      assert.deepStrictEqual(sizes, [4, 2, 1, 1])
    }
  )

  it.prop(
    "robust: with enough evidence it drops as many, clamped to the floor too",
    [Entries, Options],
    ([entries, options]) => {
      const size = entries.length
      const { pruned, spared } = prune(SuccessiveHalving.robust(options), entries)
      const floor = Math.max(options.parents, options.floor)
      assert.strictEqual(pruned.length + spared.length, Math.max(0, Math.min(Math.floor(size / 2), size - floor)))
    }
  )

  it.prop(
    "robust: never drops a member with fewer than minimumGroups groups",
    [Entries, Options],
    ([entries, options]) => {
      const { pruned, spared } = prune(SuccessiveHalving.robust(options), entries)
      for (const one of pruned) assert.isAtLeast(find(entries, one.id)?.groups ?? NaN, options.minimumGroups)
      for (const one of spared) assert.isBelow(find(entries, one)?.groups ?? NaN, options.minimumGroups)
    }
  )

  it.prop("never drops a better member than one it keeps on its merit", [Entries, Options], ([entries, options]) => {
    for (const policy of policies(options)) {
      const { kept, pruned, spared } = prune(policy, entries)
      const merit = kept.filter((one) => !spared.includes(one)).map((one) => find(entries, one)?.weight ?? NaN)
      for (const one of pruned) for (const weight of merit) assert.isAtMost(one.weight, weight)
    }
  })

  it.prop("ranks by the weights it is given, and reports them", [Entries, Options], ([entries, options]) => {
    for (const policy of policies(options))
      for (const one of prune(policy, entries).pruned) assert.strictEqual(one.weight, find(entries, one.id)?.weight)
  })

  it.prop(
    "robust: the outcome does not depend on the order of the population",
    [Entries, Options],
    ([entries, options]) => {
      const policy = SuccessiveHalving.robust(options)
      const { population, weights } = setUp(entries)
      const reversed = { members: population.members.toReversed() }
      assert.deepStrictEqual(policy.prune(reversed, weights.toReversed()), policy.prune(population, weights))
    }
  )

  it.prop(
    "robust: among equal weights the better observed stay, then the older",
    [Entries, Options],
    ([entries, options]) => {
      const { kept, pruned, spared } = prune(SuccessiveHalving.robust({ ...options, minimumGroups: 0 }), entries)
      assert.deepStrictEqual(spared, [])
      for (const out of pruned)
        for (const stays of kept) {
          const [a, b] = [find(entries, stays), find(entries, out.id)]
          if (a === undefined || b === undefined || a.weight !== b.weight) continue
          assert.isAtLeast(a.groups, b.groups)
          if (a.groups === b.groups) assert.isAtMost(a.bornAt, b.bornAt)
        }
    }
  )

  it.prop(
    "paper: among equal weights the earlier in the population stays",
    [Entries, Options],
    ([entries, options]) => {
      const { kept, pruned } = prune(SuccessiveHalving.paper(options), entries)
      const place = (wanted: InstructionId) => entries.findIndex((_, index) => id(index) === wanted)
      for (const out of pruned)
        for (const stays of kept)
          if (find(entries, stays)?.weight === out.weight) assert.isBelow(place(stays), place(out.id))
    }
  )

  it.prop("a kept member that does even better is still kept", [Entries, Options], ([entries, options]) => {
    for (const policy of policies(options))
      for (const [index, entry] of entries.entries()) {
        if (!prune(policy, entries).kept.includes(id(index))) continue
        const better = entries.with(index, { ...entry, weight: 1 })
        if (entry.weight < 1) assert.include(prune(policy, better).kept, id(index))
      }
  })

  it.prop("survives JSON unchanged", [Entries, Options], ([entries, options]) => {
    const codec = Schema.fromJsonString(SuccessiveHalving.Pruning)
    const pruning = prune(SuccessiveHalving.robust(options), entries)
    assert.deepStrictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(pruning)), pruning)
  })
})

describe("parents", () => {
  it.prop(
    "are the N_parent members that no other outweighs, best first, and are never pruned",
    [Entries, Options],
    ([entries, options]) => {
      for (const policy of policies(options)) {
        const { population, weights } = setUp(entries)
        const parents = policy.parents(population, weights).map((parent) => parent.instruction.id)
        assert.deepStrictEqual(
          parents.map((parent): number => find(entries, parent)?.weight ?? NaN),
          entries
            .map(({ weight }): number => weight)
            .toSorted((a, b) => b - a)
            .slice(0, options.parents)
        )
        assert.includeMembers([...policy.prune(population, weights).kept], parents)
      }
    }
  )
})

describe("SuccessiveHalvingPolicy", () => {
  const sparing = Effect.gen(function* () {
    const policy = yield* SuccessiveHalvingPolicy
    return prune(policy, [
      { weight: 1, groups: 9, bornAt: 0 },
      { weight: 0, groups: 0, bornAt: 0 }
    ]).kept
  })

  it.effect("layerPaper and layerRobust provide the two rules", () =>
    Effect.gen(function* () {
      const paper = SuccessiveHalvingPolicy.layerPaper({ parents: 1 })
      const robust = SuccessiveHalvingPolicy.layerRobust({ parents: 1, minimumGroups: 4 })
      assert.deepStrictEqual(yield* sparing.pipe(Effect.provide(paper)), [id(0)])
      assert.deepStrictEqual(yield* sparing.pipe(Effect.provide(robust)), [id(0), id(1)])
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Schema } from "effect"
import { Instruction } from "@inspo/domain"
import { Population, Ranking } from "@inspo/population"
import { Admission, Removal } from "@inspo/successive-halving"

/** Few distinct values, so that ties are common. */
const Entry = Schema.Struct({
  value: Schema.Literals([0, 0.2, 0.4, 0.6, 0.8, 1]),
  groups: Schema.Literals([0, 2, 4, 9]),
  /** Mean reward of each of its groups; no two differ by little. */
  worth: Schema.Literals([0, 0.5, 1]),
  bornAt: Schema.Literals([0, 15])
})
const Entries = Schema.Array(Entry).check(Schema.isMaxLength(9))
type Entries = typeof Entries.Type

const Options = Schema.Struct({
  parents: Schema.Literals([1, 2, 3]),
  floor: Schema.Literals([0, 1, 4]),
  size: Schema.Literals([2, 5, 9]),
  ties: Schema.Literals(["order", "evidence"]),
  /** Steps that all members were sampled in. */
  steps: Schema.Literals([0, 3, 12, 40])
})

const id = (index: number) => Instruction.InstructionId.make(`i${index}`)

const instruction = (index: number, bornAt: number): Instruction.Instruction => ({
  id: id(index),
  text: `instruction ${index}`,
  generation: 0,
  parent: null,
  origin: "variant",
  bornAt
})

/** Two groups of everyone's worth in each of so many steps, under the ages, groups and values that the entries tell. */
const setUp = (entries: Entries, steps = 0) => {
  const { observe } = Population.recentSteps({ window: 5 })
  const newcomers = entries.map(({ bornAt }, index) => instruction(index, bornAt))
  const groups = entries.flatMap(({ worth }, index) =>
    Arr.replicate({ instructionId: id(index), rewards: [worth] as const }, 2)
  )
  const { members, ...known } = Arr.makeBy(steps, (index) => index + 1).reduce(
    (population, step) => observe(population, step, groups),
    Population.begin(newcomers)
  )
  return {
    population: {
      ...known,
      members: Arr.zipWith(members, entries, (member, entry): Population.Member => ({
        ...member,
        // Not what `values` says: only the argument may count.
        value: 1 - entry.value,
        lifetime: { ...member.lifetime, groups: entry.groups, trajectories: entry.groups }
      }))
    },
    values: entries.map(({ value }, index) => ({ id: id(index), value }))
  }
}

const prune = (rule: Removal.Interface, entries: Entries, steps = 0) => {
  const { population, values } = setUp(entries, steps)
  return rule.prune(population, values)
}

const find = (entries: Entries, wanted: Instruction.InstructionId) => entries.find((_, index) => id(index) === wanted)

const rules = (options: typeof Options.Type) => [Removal.bottomHalf(options), Removal.fixedHalf(options)]

describe("prune", () => {
  it.prop("drops ⌊size / 2⌋, clamped to N_parent", [Entries, Options], ([entries, { parents }]) => {
    const size = entries.length
    const { pruned } = prune(Removal.bottomHalf({ parents }), entries)
    assert.strictEqual(pruned.length, Math.max(0, Math.min(Math.floor(size / 2), size - parents)))
  })

  it.prop(
    "repeated, it takes 7 to 4, 2, 1, or by half of the size it began with to 4, 1, and stays there",
    [Schema.Tuple([Entry, Entry, Entry, Entry, Entry, Entry, Entry])],
    ([entries]) => {
      const { population, values } = setUp(entries)
      for (const [rule, expected] of [
        [Removal.bottomHalf({ parents: 1 }), [4, 2, 1, 1]],
        [Removal.fixedHalf({ parents: 1, size: 7 }), [4, 1, 1, 1]]
      ] as const) {
        let current: Population.Contents = population
        const sizes = expected.map(() => {
          current = Population.remove(
            current,
            rule.prune(current, values).pruned.map((one) => one.id)
          )
          return current.members.length
        })
        assert.deepStrictEqual<ReadonlyArray<number>>(sizes, expected)
      }
    }
  )

  it.prop("drops or spares as many, clamped to the floor too", [Entries, Options], ([entries, options]) => {
    const size = entries.length
    const floor = Math.max(options.parents, options.floor)
    const { population, values } = setUp(entries, options.steps)
    const protectedIds = new Set([id(0), id(3)])
    for (const [rule, half] of [
      [Removal.bottomHalf(options), size],
      [Removal.fixedHalf(options), options.size]
    ] as const) {
      const { pruned, spared } = rule.prune(population, values, protectedIds)
      assert.strictEqual(pruned.length + spared.length, Math.max(0, Math.min(Math.floor(half / 2), size - floor)))
      assert.includeMembers([...protectedIds], [...spared])
      for (const one of pruned) assert.isFalse(protectedIds.has(one.id))
    }
  })

  it.prop("never prunes a better member than one it keeps for its value", [Entries, Options], ([entries, options]) => {
    for (const rule of rules(options)) {
      const { kept, pruned, spared } = prune(rule, entries, options.steps)
      const merit = kept.filter((one) => !spared.includes(one)).map((one) => find(entries, one)?.value ?? NaN)
      for (const one of pruned) for (const value of merit) assert.isAtMost(one.value, value)
    }
  })

  it.prop(
    "lists the pruned worst first, those kept on their merit and the spared best first",
    [Entries, Options],
    ([entries, options]) => {
      const ascending = (values: ReadonlyArray<number>) =>
        assert.deepStrictEqual(
          values,
          values.toSorted((a, b) => a - b)
        )
      for (const rule of rules(options)) {
        const { kept, pruned, spared } = prune(rule, entries, options.steps)
        const values = (ids: ReadonlyArray<Instruction.InstructionId>) =>
          ids.map((one) => find(entries, one)?.value ?? NaN)
        ascending(pruned.map(({ value }) => value))
        ascending(values(kept.slice(0, kept.length - spared.length)).toReversed())
        ascending(values(spared).toReversed())
        assert.deepStrictEqual(kept.slice(kept.length - spared.length), spared)
      }
    }
  )

  it.prop("ranks by the values it is given, and reports them", [Entries, Options], ([entries, options]) => {
    for (const rule of rules(options))
      for (const one of prune(rule, entries, options.steps).pruned)
        assert.strictEqual(one.value, find(entries, one.id)?.value)
  })

  it.prop(
    "by order, among equal values the earlier in the population stays",
    [Entries, Options],
    ([entries, options]) => {
      const { kept, pruned } = prune(Removal.bottomHalf({ ...options, ties: "order" }), entries)
      const place = (wanted: Instruction.InstructionId) => entries.findIndex((_, index) => id(index) === wanted)
      for (const out of pruned)
        for (const stays of kept)
          if (find(entries, stays)?.value === out.value) assert.isBelow(place(stays), place(out.id))
    }
  )

  it.prop("breaks ties as configured", [Entries, Options], ([entries, options]) => {
    for (const make of [Removal.bottomHalf, Removal.fixedHalf])
      for (const ties of ["order", "evidence"] as const) {
        const rule = make({ ...options, ties })
        const { population, values } = setUp(entries, options.steps)
        const ranked = Ranking.byTies[ties](population, values)
        assert.deepStrictEqual(rule.parents(population, values), ranked.slice(0, options.parents))
        const { kept, spared } = rule.prune(population, values)
        const merit = kept.slice(0, kept.length - spared.length)
        assert.deepStrictEqual(merit, ranked.map(({ instruction }) => instruction.id).slice(0, merit.length))
      }
  })

  it.prop("a kept member that does even better is still kept", [Entries, Options], ([entries, options]) => {
    for (const rule of rules(options)) {
      const { kept } = prune(rule, entries, options.steps)
      for (const [index, entry] of entries.entries()) {
        if (entry.value === 1 || !kept.includes(id(index))) continue
        const better = entries.with(index, { ...entry, value: 1 })
        assert.include(prune(rule, better, options.steps).kept, id(index))
      }
    }
  })

  it.prop("survives JSON unchanged", [Entries, Options], ([entries, options]) => {
    const codec = Schema.fromJsonString(Removal.Pruning)
    for (const rule of rules(options)) {
      const pruning = prune(rule, entries, options.steps)
      assert.deepStrictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(pruning)), pruning)
    }
  })
})

describe("parents", () => {
  it.prop(
    "are the N_parent members than which no other has a larger value, best first, and are never pruned",
    [Entries, Options],
    ([entries, options]) => {
      for (const rule of rules(options)) {
        const { population, values } = setUp(entries, options.steps)
        const parents = rule.parents(population, values).map((parent) => parent.instruction.id)
        assert.deepStrictEqual(
          parents.map((parent): number => find(entries, parent)?.value ?? NaN),
          entries
            .map(({ value }): number => value)
            .toSorted((a, b) => b - a)
            .slice(0, options.parents)
        )
        assert.includeMembers([...rule.prune(population, values).kept], parents)
      }
    }
  )
})

describe("replaced", () => {
  it.prop(
    "is every member except the parents, worst first, with their values",
    [Entries, Options],
    ([entries, options]) => {
      for (const rule of rules(options)) {
        const { population, values } = setUp(entries, options.steps)
        const parents = rule.parents(population, values).map((parent) => parent.instruction.id)
        const replaced = Admission.allOthers(options).replaced(population, values, new Set(parents), 1)
        assert.sameMembers(
          [...parents, ...replaced.map((one) => one.id)],
          entries.map((_, index) => id(index))
        )
        const left = replaced.map((one) => one.value)
        assert.deepStrictEqual(
          left,
          left.toSorted((a, b) => a - b)
        )
        for (const one of replaced) assert.strictEqual(one.value, find(entries, one.id)?.value)
      }
    }
  )

  it.prop("is forced, and adds no bound of its own to the newcomers", [Entries, Options], ([entries, options]) => {
    const { population, values } = setUp(entries, options.steps)
    const rule = Admission.allOthers(options)
    for (const one of rule.replaced(population, values, new Set(), options.size))
      assert.deepStrictEqual([one.reason, one.certainty], ["forced", undefined])
    assert.isUndefined(rule.bounds)
  })
})

describe("the identity of a rule", () => {
  it("contains all options", () => {
    const identities = rules({ parents: 1, floor: 4, size: 9, ties: "evidence", steps: 0 }).map(
      ({ identity }) => identity
    )
    assert.deepStrictEqual(identities, [
      { name: "bottom-half", parameters: { parents: 1, floor: 4, ties: "evidence" } },
      { name: "fixed-half", parameters: { parents: 1, floor: 4, ties: "evidence", size: 9 } }
    ])
  })
})

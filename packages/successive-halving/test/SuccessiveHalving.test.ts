import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Schema } from "effect"
import { type Instruction, InstructionId } from "@inspo/domain/Instruction"
import { InstructionValue, Population, Ranking, Superiority } from "@inspo/population"
import { SuccessiveHalving } from "@inspo/successive-halving"

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
  minimumGroups: Schema.Literals([0, 3, 5]),
  delta: Schema.Literals([0.01, 0.2]),
  comparisons: Schema.Literals([8, 80]),
  /** Steps that all members were sampled in. */
  steps: Schema.Literals([0, 3, 12, 40])
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

/** Two groups of everyone's worth in each of so many steps, under the ages, groups and values that the entries tell. */
const setUp = (entries: Entries, steps = 0) => {
  const { observe } = InstructionValue.recentSteps({ window: 5 })
  const newcomers = entries.map(({ bornAt }, index) => instruction(index, bornAt))
  const groups = entries.flatMap(({ worth }, index) =>
    Arr.replicate({ instructionId: id(index), rewards: [worth] as const }, 2)
  )
  const { members, ...known } = Arr.makeBy(steps, (index) => index + 1).reduce(
    (population, step) => observe(population, step, groups),
    Population.make(newcomers)
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

const prune = (rule: SuccessiveHalving.Strategy, entries: Entries, steps = 0) => {
  const { population, values } = setUp(entries, steps)
  return rule.prune(population, values)
}

const find = (entries: Entries, wanted: InstructionId) => entries.find((_, index) => id(index) === wanted)

const rules = (options: typeof Options.Type) => [
  SuccessiveHalving.bottomHalf(options),
  SuccessiveHalving.spareUnseen(options),
  SuccessiveHalving.confident(options)
]

describe("prune", () => {
  it.prop("keeps and prunes exactly the population, each member once", [Entries, Options], ([entries, options]) => {
    for (const rule of rules(options)) {
      const { kept, pruned, spared } = prune(rule, entries, options.steps)
      assert.sameMembers(
        [...kept, ...pruned.map((one) => one.id)],
        entries.map((_, index) => id(index))
      )
      assert.includeMembers([...kept], [...spared])
    }
  })

  it.prop("drops ⌊size / 2⌋, clamped to N_parent", [Entries, Options], ([entries, { parents }]) => {
    const size = entries.length
    const { pruned } = prune(SuccessiveHalving.bottomHalf({ parents }), entries)
    assert.strictEqual(pruned.length, Math.max(0, Math.min(Math.floor(size / 2), size - parents)))
  })

  it.prop(
    "repeated, it takes 7 to 4, 2, 1, or by half of the size it began with to 4, 1, and stays there",
    [Schema.Tuple([Entry, Entry, Entry, Entry, Entry, Entry, Entry])],
    ([entries]) => {
      const { population, values } = setUp(entries)
      for (const [rule, expected] of [
        [SuccessiveHalving.bottomHalf({ parents: 1 }), [4, 2, 1, 1]],
        [SuccessiveHalving.fixedHalf({ parents: 1, size: 7 }), [4, 1, 1, 1]]
      ] as const) {
        let current: Population.Population = population
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
    for (const rule of rules(options)) {
      const { pruned, spared } = prune(rule, entries, options.steps)
      assert.strictEqual(pruned.length + spared.length, Math.max(0, Math.min(Math.floor(size / 2), size - floor)))
    }
  })

  it.prop(
    "spareUnseen: never drops a member with fewer than minimumGroups groups",
    [Entries, Options],
    ([entries, options]) => {
      const { pruned, spared } = prune(SuccessiveHalving.spareUnseen(options), entries)
      for (const one of pruned) assert.isAtLeast(find(entries, one.id)?.groups ?? NaN, options.minimumGroups)
      for (const one of spared) assert.isBelow(find(entries, one)?.groups ?? NaN, options.minimumGroups)
    }
  )

  it.prop(
    "spareUnseen alone names whom it would spare, whatever their rank",
    [Entries, Options],
    ([entries, options]) => {
      const { population } = setUp(entries, options.steps)
      const few = entries.flatMap(({ groups }, index) => (groups < options.minimumGroups ? [id(index)] : []))
      const named = rules(options).map((rule) => rule.unseen(population))
      assert.deepStrictEqual<ReadonlyArray<ReadonlyArray<InstructionId>>>(named, [[], few, []])
    }
  )

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
        const values = (ids: ReadonlyArray<InstructionId>) => ids.map((one) => find(entries, one)?.value ?? NaN)
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
    "spareUnseen: the outcome does not depend on the order of the population",
    [Entries, Options],
    ([entries, options]) => {
      const rule = SuccessiveHalving.spareUnseen(options)
      const { population, values } = setUp(entries)
      const reversed = { ...population, members: population.members.toReversed() }
      assert.deepStrictEqual(rule.prune(reversed, values.toReversed()), rule.prune(population, values))
    }
  )

  it.prop(
    "spareUnseen: among equal values the better observed stay, then the older",
    [Entries, Options],
    ([entries, options]) => {
      const { kept, pruned, spared } = prune(SuccessiveHalving.spareUnseen({ ...options, minimumGroups: 0 }), entries)
      assert.deepStrictEqual(spared, [])
      for (const out of pruned)
        for (const stays of kept) {
          const [a, b] = [find(entries, stays), find(entries, out.id)]
          if (a === undefined || b === undefined || a.value !== b.value) continue
          assert.isAtLeast(a.groups, b.groups)
          if (a.groups === b.groups) assert.isAtMost(a.bornAt, b.bornAt)
        }
    }
  )

  it.prop(
    "bottomHalf: among equal values the earlier in the population stays",
    [Entries, Options],
    ([entries, options]) => {
      const { kept, pruned } = prune(SuccessiveHalving.bottomHalf(options), entries)
      const place = (wanted: InstructionId) => entries.findIndex((_, index) => id(index) === wanted)
      for (const out of pruned)
        for (const stays of kept)
          if (find(entries, stays)?.value === out.value) assert.isBelow(place(stays), place(out.id))
    }
  )

  it.prop("breaks ties as configured", [Entries, Options], ([entries, options]) => {
    for (const make of [SuccessiveHalving.bottomHalf, SuccessiveHalving.spareUnseen, SuccessiveHalving.confident])
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
    for (const rule of rules(options))
      for (const [index, entry] of entries.entries()) {
        if (!prune(rule, entries, options.steps).kept.includes(id(index))) continue
        const better = entries.with(index, { ...entry, value: 1 })
        if (entry.value < 1) assert.include(prune(rule, better, options.steps).kept, id(index))
      }
  })

  it.prop("survives JSON unchanged", [Entries, Options], ([entries, options]) => {
    const codec = Schema.fromJsonString(SuccessiveHalving.Pruning)
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
        const replaced = rule.replaced(population, values, new Set(parents))
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

  it.prop("is forced, unless a rule is certain that they are worse", [Entries, Options], ([entries, options]) => {
    const { population, values } = setUp(entries, options.steps)
    for (const rule of [SuccessiveHalving.bottomHalf(options), SuccessiveHalving.spareUnseen(options)])
      for (const one of rule.replaced(population, values, new Set()))
        assert.deepStrictEqual([one.reason, one.certainty], ["forced", undefined])
    for (const one of SuccessiveHalving.confident(options).replaced(population, values, new Set()))
      assert.strictEqual(one.reason, (one.certainty ?? NaN) >= 1 - options.delta ? "worse" : "forced")
  })
})

describe("confident", () => {
  /** Everyone's certainty, in the order of the entries. */
  const certainties = (
    population: Population.Population,
    values: ReadonlyArray<Population.Value>,
    options: typeof Options.Type
  ) => {
    const found = SuccessiveHalving.confident(options).replaced(population, values, new Set())
    return values.map(({ id }) => found.find((one) => one.id === id)?.certainty ?? NaN)
  }

  it.prop("prunes with certainty 1 - δ, and spares with less", [Entries, Options], ([entries, options]) => {
    const { population, values } = setUp(entries, options.steps)
    const { pruned, spared } = SuccessiveHalving.confident(options).prune(population, values)
    const certainty = certainties(population, values, options)
    for (const one of pruned) {
      assert.strictEqual(one.reason, "worse")
      assert.isAtLeast(one.certainty ?? NaN, 1 - options.delta)
    }
    for (const [index, one] of certainty.entries())
      if (spared.includes(id(index))) assert.isBelow(one, 1 - options.delta)
  })

  it.prop(
    "is as certain as the e-values of the rivals, over all comparisons, allow",
    [Entries, Options],
    ([entries, options]) => {
      const { population, values } = setUp(entries, options.steps)
      for (const [index, certainty] of certainties(population, values, options).entries()) {
        const evidence = population.members.map((rival, other) => {
          const own = population.members[index]
          return own === undefined || other === index ? 0 : Superiority.eValue(rival, own)
        })
        const total = evidence.reduce((sum, value) => sum + value, 0)
        assert.approximately(certainty, Math.max(0, 1 - options.comparisons / total), 1e-12)
      }
    }
  )

  it.prop(
    "is as certain of an instruction wherever it stands and whatever its id",
    [Entries, Options],
    ([entries, options]) => {
      const { population, values } = setUp(entries, options.steps)
      const relabelled = setUp(entries.toReversed(), options.steps)
      const expected = certainties(population, values, options).toReversed()
      for (const [index, certainty] of certainties(relabelled.population, relabelled.values, options).entries())
        assert.approximately(certainty, expected[index] ?? NaN, 1e-12)
    }
  )

  it.prop("prunes no member on equal evidence, however much", [Entries, Options], ([entries, options]) => {
    const equal = entries.map((entry) => ({ ...entry, worth: 0.5 as const }))
    assert.deepStrictEqual(prune(SuccessiveHalving.confident(options), equal, options.steps).pruned, [])
  })

  it.prop(
    "never prunes a member that no rival outperformed, whatever its value",
    [Entries, Options],
    ([entries, options]) => {
      const largest = Math.max(...entries.map(({ worth }) => worth))
      for (const { id } of prune(SuccessiveHalving.confident(options), entries, options.steps).pruned)
        assert.isBelow(find(entries, id)?.worth ?? NaN, largest)
    }
  )

  it.prop("prunes on more of the same evidence what it prunes on less", [Entries, Options], ([entries, options]) => {
    const rule = SuccessiveHalving.confident(options)
    const out = (steps: number) => prune(rule, entries, steps).pruned.map((one) => one.id)
    assert.includeMembers(out(2 * options.steps), out(options.steps))
  })

  it.prop("still prunes when a rival did even better", [Entries, Options], ([entries, options]) => {
    const rule = SuccessiveHalving.confident(options)
    const out = (given: Entries) => prune(rule, given, options.steps).pruned.map((one) => one.id)
    for (const [index, entry] of entries.entries())
      assert.includeMembers(
        out(entries.with(index, { ...entry, worth: 1 })),
        out(entries).filter((one) => one !== id(index))
      )
  })

  it.prop(
    "prunes under a smaller risk only whom it prunes under a larger",
    [Entries, Options],
    ([entries, options]) => {
      const out = (delta: number) =>
        prune(SuccessiveHalving.confident({ ...options, delta }), entries, options.steps).pruned.map((one) => one.id)
      assert.includeMembers(out(0.2), out(0.01))
    }
  )

  it("prunes the worse of two after enough steps, and not before", () => {
    const entries: Entries = [
      { value: 0.8, groups: 0, worth: 1, bornAt: 0 },
      { value: 0.2, groups: 0, worth: 0, bornAt: 0 }
    ]
    const left = (steps: number) =>
      prune(SuccessiveHalving.confident({ parents: 1, delta: 0.05, comparisons: 1 }), entries, steps).kept.length
    assert.deepStrictEqual([0, 1, 5, 40].map(left), [2, 2, 2, 1])
  })
})

describe("the identity of a rule", () => {
  it("contains all options", () => {
    const identities = rules({ parents: 1, floor: 4, minimumGroups: 5, delta: 0.2, comparisons: 8, steps: 0 }).map(
      ({ identity }) => identity
    )
    assert.deepStrictEqual(identities, [
      { name: "bottom-half", parameters: { parents: 1, floor: 4, ties: "order" } },
      { name: "spare-unseen", parameters: { parents: 1, floor: 4, ties: "evidence", minimumGroups: 5 } },
      { name: "confident", parameters: { parents: 1, floor: 4, ties: "evidence", delta: 0.2, comparisons: 8 } }
    ])
  })
})

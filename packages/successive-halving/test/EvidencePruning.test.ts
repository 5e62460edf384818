import { assert, describe, it } from "@effect/vitest"
import { Instruction, RandomStream } from "@inspo/domain"
import { Comparison, Population } from "@inspo/population"
import { EvidencePruning } from "@inspo/successive-halving"
import { Schema } from "effect"

const id = (index: number) => Instruction.InstructionId.make(`i${index}`)
const instruction = (index: number): Instruction.Instruction => ({
  id: id(index),
  text: `instruction ${index}`,
  generation: 0,
  parent: null,
  origin: index === 0 ? "seed" : "variant",
  bornAt: 0
})

/** What is known of each member: its chance of being the best, and the evidence that it is not. */
const Members = Schema.NonEmptyArray(
  Schema.Struct({ chance: Schema.Literals([0, 0.1, 0.4]), eValue: Schema.Literals([0.2, 1, 31, 59, 61, 5000]) })
).check(Schema.isMaxLength(7))
type Members = typeof Members.Type

const Options = Schema.Struct({
  delta: Schema.Literals([0.05, 0.1, 0.4]),
  parents: Schema.Literals([1, 2, 3]),
  incumbent: Schema.Natural,
  protectedIds: Schema.Array(Schema.Literals([0, 1, 2, 3, 4, 5, 6])).check(Schema.isMaxLength(3))
})

const setUp = (members: Members, { incumbent }: Pick<typeof Options.Type, "incumbent">) => {
  const population = Population.begin(members.map((_, index) => instruction(index)))
  const known: Population.Contents = {
    ...population,
    comparison: {
      ...population.comparison,
      incumbent: incumbent % members.length,
      chances: members.map(({ chance }) => chance),
      // One pair of each shows it.
      shares: members.map((_, worse) => members.map((_, better) => (better === (worse === 0 ? 1 : 0) ? 1 : 0))),
      exponents: members.map(({ eValue }) => members.map(() => Comparison.bets.map(() => Math.log(eValue))))
    }
  }
  return { population: known, values: members.map((_, index) => ({ id: id(index), value: index / 10 })) }
}

/** Whether the evidence refutes that a member is the best: 1 / δ. One that is alone has no rival. */
const isRefuted = (members: Members, { delta }: Pick<typeof Options.Type, "delta">, index: number) =>
  members.length > 1 && (members[index]?.eValue ?? NaN) >= 1 / delta

/** The incumbent first, then by chance, then the older. */
const rankOf = (members: Members, incumbent: number) =>
  [...members.keys()].toSorted((a, b) => {
    const first = incumbent % members.length
    if (a === first || b === first) return a === b ? 0 : a === first ? -1 : 1
    return (members[b]?.chance ?? 0) - (members[a]?.chance ?? 0) || a - b
  })

describe("prune", () => {
  it.prop(
    "removes exactly those that the evidence refutes, the worst first",
    [Members, Options],
    ([members, options]) => {
      const { population, values } = setUp(members, options)
      const protectedIds = new Set(options.protectedIds.map(id))
      const { kept, pruned, spared } = EvidencePruning.removal(options).prune(population, values, protectedIds)
      const refuted = rankOf(members, options.incumbent)
        .toReversed()
        .filter((index) => isRefuted(members, options, index))
        .map(id)
      const leaving = refuted
        .filter((one) => !protectedIds.has(one))
        .slice(0, Math.max(0, members.length - options.parents))
      assert.deepStrictEqual(
        pruned.map((one) => one.id),
        leaving
      )
      assert.deepStrictEqual(
        spared,
        refuted.filter((one) => !leaving.includes(one))
      )
      assert.sameMembers(
        [...kept, ...pruned.map((one) => one.id)],
        members.map((_, index) => id(index))
      )
      for (const { certainty = NaN, id: one, reason, value } of pruned) {
        assert.strictEqual(reason, "worse")
        assert.isAtLeast(certainty, 1 - options.delta - 1e-12)
        assert.strictEqual(value, values.find((own) => own.id === one)?.value)
      }
    }
  )

  it.prop("leaves no fewer members than parents, and no protected one", [Members, Options], ([members, options]) => {
    const { population, values } = setUp(members, options)
    const protectedIds = new Set(options.protectedIds.map(id))
    const { pruned } = EvidencePruning.removal(options).prune(population, values, protectedIds)
    assert.isAtLeast(members.length - pruned.length, Math.min(members.length, options.parents))
    for (const one of pruned) assert.isFalse(protectedIds.has(one.id))
    const parents = EvidencePruning.removal(options)
      .parents(population, values)
      .map((one) => one.instruction.id)
    assert.deepStrictEqual(parents, rankOf(members, options.incumbent).slice(0, options.parents).map(id))
  })

  it("removes the best of a population with a probability of at most δ", { tags: "deep", timeout: 120_000 }, () => {
    const delta = 0.2
    const rule = EvidencePruning.removal({ delta, parents: 1 })
    const lives = 1500
    let wrong = 0
    let right = 0
    for (let life = 0; life < lives; life++) {
      const luck = RandomStream.make(life, ["best"])
      let population = Population.begin([instruction(0), instruction(1), instruction(2)])
      for (let step = 1; step <= 12; step++) {
        const groups = Array.from({ length: 8 }, (_, place) => {
          const level = 0.2 + 0.4 * luck.next()
          return Population.ids(population).map((instructionId) => ({
            instructionId,
            question: `${step}.${place}`,
            // The third is far worse, the second hardly.
            rewards: [
              luck.next() < level - (instructionId === id(2) ? 0.2 : instructionId === id(1) ? 0.01 : 0) ? 1 : 0
            ]
          }))
        }).flat()
        population = Population.observe({ window: 3, average: "observed", span: "steps" }, population, step, groups)
        const pruned = rule.prune(population, Population.compare.values(population)).pruned.map((one) => one.id)
        if (pruned.includes(id(0))) wrong += 1
        if (pruned.includes(id(2))) right += 1
        population = Population.remove(population, pruned)
        if (!Population.ids(population).includes(id(0)) || population.members.length === 1) break
      }
    }
    assert.isAtMost(wrong / lives, delta + 3 * Math.sqrt((delta * (1 - delta)) / lives))
    assert.isAbove(right / lives, 0.2)
  })
})

describe("newcomers", () => {
  it.prop(
    "are four until something is rewarded, then twice as many after one became the incumbent, else half as many, at least one",
    [Members, Options, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))],
    ([members, options, places]) => {
      const { population: unrewarded } = setUp(members, options)
      const population = { ...unrewarded, comparison: { ...unrewarded.comparison, samples: 9, sum: 0.5 } }
      const rule = EvidencePruning.admission(options)
      const newcomers = (...given: Parameters<NonNullable<typeof rule.bounds>>) => rule.bounds?.(...given).newcomers
      const incumbent = options.incumbent % members.length
      assert.strictEqual(newcomers(population, null), 4)
      assert.strictEqual(newcomers(unrewarded, { places, ids: [id(incumbent)] }), 4)
      assert.strictEqual(newcomers(population, { places, ids: [id(99), id(incumbent)] }), 2 * places)
      const others = members.flatMap((_, index) => (index === incumbent ? [] : [id(index)]))
      assert.strictEqual(newcomers(population, { places, ids: others }), Math.max(1, Math.floor(places / 2)))
    }
  )

  it.prop("leave the incumbent, and the seed until it is shown worse", [Members, Options], ([members, options]) => {
    const { population } = setUp(members, options)
    const kept = EvidencePruning.admission(options).bounds?.(population, null).kept
    const seed = isRefuted(members, options, 0) ? [] : [id(0)]
    assert.deepStrictEqual(new Set(kept), new Set([...seed, id(options.incumbent % members.length)]))
  })

  it.prop(
    "replace those with the smallest P(best), as many as it takes and none that stays",
    [Members, Options, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 8 }))],
    ([members, options, size]) => {
      const { population, values } = setUp(members, options)
      const staying = new Set(options.protectedIds.filter((index) => index < members.length).map(id))
      const replaced = EvidencePruning.admission(options).replaced(population, values, staying, size)
      const others = rankOf(members, options.incumbent).filter((index) => !staying.has(id(index)))
      const expected = others.slice(Math.max(0, size - staying.size)).toReversed()
      assert.deepStrictEqual(
        replaced.map((one) => one.id),
        expected.map(id)
      )
      for (const [place, { certainty = NaN, reason }] of replaced.entries()) {
        assert.strictEqual(reason, isRefuted(members, options, expected[place] ?? NaN) ? "worse" : "forced")
        assert.isTrue(certainty >= 0 && certainty <= 1)
      }
    }
  )
})

describe("the options", () => {
  it("refuses a risk that is none, and a population without parents", () => {
    for (const delta of [0, 1, NaN, -1]) {
      assert.throws(() => EvidencePruning.removal({ delta, parents: 1 }), /delta is/u)
      assert.throws(() => EvidencePruning.admission({ delta }), /delta is/u)
    }
    assert.throws(() => EvidencePruning.removal({ delta: 0.1, parents: 0 }), /parents is 0/u)
    assert.deepStrictEqual(EvidencePruning.removal({ delta: 0.1, parents: 2 }).identity, {
      name: "evidence",
      parameters: { parents: 2, delta: 0.1 }
    })
    assert.deepStrictEqual(EvidencePruning.admission({ delta: 0.1 }).identity, {
      name: "evidence",
      parameters: { delta: 0.1 }
    })
  })
})

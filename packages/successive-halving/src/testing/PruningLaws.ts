/** The laws of every pruning rule. */
import { Law } from "@inspo/domain/testing"
import { InstructionValue, Population } from "@inspo/population"
import { Populations } from "@inspo/population/testing"
import { Arbitrary, Schema } from "effect"
import { Pruning, type Strategy } from "../SuccessiveHalving.ts"

/**
 * The laws of a `SuccessiveHalving.Strategy`. They say nothing of how many members a rule removes, as long as the best stays.
 *
 * @example
 * ```ts
 * import { it } from "@effect/vitest"
 * import { SuccessiveHalving } from "@inspo/successive-halving"
 * import { PruningLaws } from "@inspo/successive-halving/testing"
 *
 * const rule = SuccessiveHalving.bottomHalf({ parents: 1 })
 *
 * for (const { check, name } of PruningLaws.laws(rule)) it.effect(name, () => check)
 * ```
 */
export const laws = (rule: Rule, options?: Law.Options): ReadonlyArray<Law.Law> => {
  const forAll: ForAll = (name, holds) => Law.forAll(name, cases, options, holds)
  return [...pruningLaws(rule, forAll), ...newcomerLaws(rule, forAll)]
}

type Rule = Pick<Strategy, "kept" | "newcomers" | "parents" | "prune" | "replaced">

type ForAll = (name: string, holds: (one: Case) => void) => Law.Law

const pruningOf = (rule: Rule, { chosen, population, values }: Case): Pruning => rule.prune(population, values, chosen)

const parentIds = (rule: Rule, { population, values }: Case): ReadonlyArray<Population.Value["id"]> =>
  rule.parents(population, values).map(({ instruction }) => instruction.id)

const pruningLaws = (rule: Rule, forAll: ForAll): ReadonlyArray<Law.Law> => [
  forAll("a pruning keeps or removes each member once, and spares only what it keeps", (one) => {
    const { kept, pruned, spared } = pruningOf(rule, one)
    Law.same(
      [...kept, ...pruned.map(({ id }) => id)].toSorted(),
      Population.ids(one.population).toSorted(),
      "the members that are kept or removed"
    )
    for (const id of spared) Law.expect(kept.includes(id), `${id} is spared, and not kept`)
  }),

  forAll("a protected member is not removed", (one) => {
    for (const { id } of pruningOf(rule, one).pruned) Law.expect(!one.chosen.has(id), `${id} is protected, and removed`)
  }),

  forAll("the first parent is not removed", (one) => {
    const [best] = parentIds(rule, one)
    for (const { id } of pruningOf(rule, one).pruned) Law.expect(id !== best, `${id} is the first parent, and removed`)
  }),

  forAll("a pruning leaves as many members as there are parents", (one) => {
    const left = one.population.members.length - pruningOf(rule, one).pruned.length
    const parents = new Set(parentIds(rule, one)).size
    Law.expect(left >= parents, `${left} members are left, expected at least ${parents}`)
  }),

  forAll("parents are members, each once, and none only in an empty population", (one) => {
    const members = Population.ids(one.population)
    const parents = parentIds(rule, one)
    Law.expect(parents.length > 0 || members.length === 0, "there is no parent")
    Law.same(parents, [...new Set(parents)], "the parents")
    for (const id of parents) Law.expect(members.includes(id), `the parent ${id} is not a member`)
  })
]

const newcomerLaws = (rule: Rule, forAll: ForAll): ReadonlyArray<Law.Law> => [
  forAll("what is removed has the value that it was ranked by", (one) => {
    const pruning = pruningOf(rule, one)
    Law.expect(isPruning(pruning), `the pruning is ${JSON.stringify(pruning)}`)
    const { chosen, population, size, values } = one
    for (const { id, value } of [...pruning.pruned, ...rule.replaced(population, values, chosen, size)])
      Law.same(value, values.find((own) => own.id === id)?.value, `the value of ${id}`)
  }),

  forAll("newcomers replace each member once at most, none that stays, and enough for their places", (one) => {
    const { chosen, population, size, values } = one
    const members = Population.ids(population)
    const replaced = rule.replaced(population, values, chosen, size).map(({ id }) => id)
    Law.same(replaced, [...new Set(replaced)], "the replaced members")
    for (const id of replaced) Law.expect(members.includes(id) && !chosen.has(id), `${id} stays, or is not a member`)
    const left = members.length - replaced.length
    Law.expect(
      left <= Math.max(size, chosen.size),
      `${left} members are left, expected at most ${size}, or the ${chosen.size} that stay`
    )
  }),

  forAll("members that make no room are members, and the newcomers a count", (one) => {
    const { chosen, population, size } = one
    const members = Population.ids(population)
    for (const id of rule.kept(population)) Law.expect(members.includes(id), `${id} is not a member`)
    for (const latest of [null, { places: size, ids: [...chosen] }]) {
      const newcomers = rule.newcomers(population, latest)
      Law.expect(newcomers >= 0, `there are ${newcomers} newcomers after ${JSON.stringify(latest)}`)
    }
  }),

  forAll("equal populations are decided on alike, and stay as they are", (one) => {
    const { chosen, population, size, values } = one
    const decide = () => [
      pruningOf(rule, one),
      parentIds(rule, one),
      rule.kept(population),
      rule.newcomers(population, null),
      rule.replaced(population, values, chosen, size)
    ]
    const copy = structuredClone(population)
    Law.same(decide(), decide(), "the decisions on the same population")
    Law.same(population, copy, "the population")
  })
]

/** A population with its values, some of its members, and a number of places. */
interface Case {
  readonly population: Population.Population
  readonly values: ReadonlyArray<Population.Value>
  readonly chosen: ReadonlySet<Population.Value["id"]>
  readonly size: number
}

const isPruning = Schema.is(Pruning)

const cases: Arbitrary.Arbitrary<Case> = Arbitrary.map(
  Arbitrary.all([
    Populations.arbitrary,
    Arbitrary.schema(
      Schema.Struct({
        chosen: Schema.Array(Schema.Literals([0, 1, 2, 3, 4, 5, 6, 7])).check(Schema.isMaxLength(3)),
        size: Schema.Literals([1, 2, 3, 5, 8]),
        isCompared: Schema.Boolean
      })
    )
  ]),
  ([population, { chosen, isCompared, size }]) => {
    const valuation = isCompared ? InstructionValue.compare : InstructionValue.recentSteps({ window: 3 })
    return {
      population,
      values: valuation.values(population),
      chosen: new Set(Population.ids(population).filter((_, place) => chosen.some((one) => one === place))),
      size
    }
  }
)

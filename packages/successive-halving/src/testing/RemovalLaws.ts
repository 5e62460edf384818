/** The laws of every rule of removal. */
import { Law } from "@inspo/domain/testing"
import { Population } from "@inspo/population"
import { Schema } from "effect"
import { type Interface, Pruning } from "../Removal.ts"
import { type Case, cases } from "./Cases.ts"

/** The laws of a `Removal.Interface`. They say nothing of how many members a rule removes, as long as the best stays. */
export const laws = (rule: Rule, options?: Law.Options): ReadonlyArray<Law.Law> => {
  const forAll = (name: string, holds: (one: Case) => void) => Law.forAll(name, cases, options, holds)
  return [
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
      for (const { id } of pruningOf(rule, one).pruned)
        Law.expect(!one.chosen.has(id), `${id} is protected, and removed`)
    }),

    forAll("the first parent is not removed", (one) => {
      const [best] = parentIds(rule, one)
      for (const { id } of pruningOf(rule, one).pruned)
        Law.expect(id !== best, `${id} is the first parent, and removed`)
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
    }),

    forAll("a barred member is no parent", (one) => {
      for (const { instruction } of rule.parents(one.population, one.values, one.chosen))
        Law.expect(!one.chosen.has(instruction.id), `${instruction.id} is barred, and a parent`)
    }),

    forAll("what is removed has the value that it was ranked by", (one) => {
      const pruning = pruningOf(rule, one)
      Law.expect(isPruning(pruning), `the pruning is ${JSON.stringify(pruning)}`)
      for (const { id, value } of pruning.pruned)
        Law.same(value, one.values.find((own) => own.id === id)?.value, `the value of ${id}`)
    }),

    forAll("equal populations are decided on alike, and stay as they are", (one) => {
      const decide = () => [pruningOf(rule, one), parentIds(rule, one)]
      const copy = structuredClone(one.population)
      Law.same(decide(), decide(), "the decisions on the same population")
      Law.same(one.population, copy, "the population")
    })
  ]
}

type Rule = Omit<Interface, "identity">

const pruningOf = (rule: Rule, { chosen, population, values }: Case): Pruning => rule.prune(population, values, chosen)

const parentIds = (rule: Rule, { population, values }: Case): ReadonlyArray<Population.Value["id"]> =>
  rule.parents(population, values).map(({ instruction }) => instruction.id)

const isPruning = Schema.is(Pruning)

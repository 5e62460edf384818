/** The laws of every rule of admission. */
import { Law } from "@inspo/domain/testing"
import { Population } from "@inspo/population"
import type { Interface } from "../Admission.ts"
import { type Case, cases } from "./Cases.ts"

/** The laws of an `Admission.Interface`. They say nothing of how many newcomers a rule admits. */
export const laws = (rule: Omit<Interface, "identity">, options?: Law.Options): ReadonlyArray<Law.Law> => {
  const forAll = (name: string, holds: (one: Case) => void) => Law.forAll(name, cases, options, holds)
  const replacedOf = ({ chosen, population, size, values }: Case) => rule.replaced(population, values, chosen, size)
  return [
    forAll("newcomers replace each member once at most, none that stays, and enough for their places", (one) => {
      const { chosen, population, size } = one
      const members = Population.ids(population)
      const replaced = replacedOf(one).map(({ id }) => id)
      Law.same(replaced, [...new Set(replaced)], "the replaced members")
      for (const id of replaced) Law.expect(members.includes(id) && !chosen.has(id), `${id} stays, or is not a member`)
      const left = members.length - replaced.length
      Law.expect(
        left <= Math.max(size, chosen.size),
        `${left} members are left, expected at most ${size}, or the ${chosen.size} that stay`
      )
    }),

    forAll("what is replaced has the value that it was ranked by", (one) => {
      for (const { id, value } of replacedOf(one))
        Law.same(value, one.values.find((own) => own.id === id)?.value, `the value of ${id}`)
    }),

    forAll("members that make no room are members, and the newcomers a count", ({ chosen, population, size }) => {
      const members = Population.ids(population)
      for (const latest of [null, { places: size, ids: [...chosen] }]) {
        const bounds = rule.bounds?.(population, latest)
        for (const id of bounds?.kept ?? []) Law.expect(members.includes(id), `${id} is not a member`)
        Law.expect(
          (bounds?.newcomers ?? 0) >= 0,
          `there are ${bounds?.newcomers} newcomers after ${JSON.stringify(latest)}`
        )
      }
    }),

    forAll("equal populations are decided on alike, and stay as they are", (one) => {
      const decide = () => [rule.bounds?.(one.population, null), replacedOf(one)]
      const copy = structuredClone(one.population)
      Law.same(decide(), decide(), "the decisions on the same population")
      Law.same(one.population, copy, "the population")
    })
  ]
}

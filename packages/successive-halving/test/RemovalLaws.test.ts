import { assert, describe, it } from "@effect/vitest"
import { Law } from "@inspo/domain/testing"
import { EvidencePruning, Removal } from "@inspo/successive-halving"
import { RemovalLaws } from "@inspo/successive-halving/testing"
import { Effect } from "effect"

describe.each([
  ["bottom half", Removal.bottomHalf({ parents: 1 })],
  [
    "bottom half, two parents, a floor, ties by evidence",
    Removal.bottomHalf({ parents: 2, floor: 3, ties: "evidence" })
  ],
  ["fixed half", Removal.fixedHalf({ parents: 2, size: 6 })],
  ["evidence", EvidencePruning.removal({ delta: 0.9, parents: 1 })],
  ["evidence, three parents", EvidencePruning.removal({ delta: 0.9, parents: 3 })]
] as const)("%s", (_, rule) => {
  for (const { check, name } of RemovalLaws.laws(rule)) it.effect(name, () => check)
})

type Rule = Omit<Removal.Interface, "identity">
const right: Rule = Removal.bottomHalf({ parents: 1 })
const three = Removal.bottomHalf({ parents: 3 })

/** For each law a rule that breaks it, and no other. */
const bugs: Readonly<Record<string, () => Rule>> = {
  "a pruning keeps or removes each member once, and spares only what it keeps": () => ({
    ...right,
    prune: (...given) => {
      const pruning = right.prune(...given)
      return { ...pruning, kept: pruning.kept.slice(0, 2) }
    }
  }),
  "a protected member is not removed": () => ({
    ...right,
    prune: (population, values) => right.prune(population, values)
  }),
  "the first parent is not removed": () => ({
    ...right,
    prune: (population, values, chosen) => {
      const negated = values.map(({ value, ...rest }) => ({ ...rest, value: -value }))
      const pruning = right.prune(population, negated, chosen)
      return { ...pruning, pruned: pruning.pruned.map(({ value, ...rest }) => ({ ...rest, value: -value })) }
    }
  }),
  "a pruning leaves as many members as there are parents": () => ({ ...right, parents: three.parents }),
  "parents are members, each once, and none only in an empty population": () => ({
    ...right,
    parents: (...given) => right.parents(...given).flatMap((parent) => [parent, parent])
  }),
  "a barred member is no parent": () => ({
    ...right,
    parents: (population, values) => right.parents(population, values)
  }),
  "what is removed has the value that it was ranked by": () => ({
    ...right,
    prune: (...given) => {
      const pruning = right.prune(...given)
      return { ...pruning, pruned: pruning.pruned.map((one) => ({ ...one, value: 0 })) }
    }
  }),
  "equal populations are decided on alike, and stay as they are": () => {
    let turn = 0
    return {
      ...right,
      prune: (...given) => {
        const pruning = right.prune(...given)
        return turn++ % 2 === 0 ? pruning : { ...pruning, kept: pruning.kept.toReversed() }
      }
    }
  }
}

describe("the laws of a rule of removal find a planted bug", { tags: "deep" }, () => {
  it.effect.each(RemovalLaws.laws(right).map(({ name }) => name))("%s", (name) =>
    Effect.gen(function* () {
      const bug = bugs[name] ?? assert.fail("no bug is planted")
      assert.deepStrictEqual(
        (yield* Law.broken(RemovalLaws.laws(bug()))).map(({ law }) => law),
        [name]
      )
    })
  )
})

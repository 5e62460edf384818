import { assert, describe, it } from "@effect/vitest"
import { Law } from "@inspo/domain/testing"
import { Instruction } from "@inspo/domain"
import { Admission, EvidencePruning } from "@inspo/successive-halving"
import { AdmissionLaws } from "@inspo/successive-halving/testing"
import { Effect } from "effect"

describe.each([
  ["all others", Admission.allOthers()],
  ["all others, ties by evidence", Admission.allOthers({ ties: "evidence" })],
  ["evidence", EvidencePruning.admission({ delta: 0.9 })]
] as const)("%s", (_, rule) => {
  for (const { check, name } of AdmissionLaws.laws(rule)) it.effect(name, () => check)
})

type Rule = Omit<Admission.Interface, "identity">
const right: Rule = Admission.allOthers()

/** For each law a rule that breaks it, and no other. */
const bugs: Readonly<Record<string, () => Rule>> = {
  "newcomers replace each member once at most, none that stays, and enough for their places": () => ({
    ...right,
    replaced: (population, values, _, size) => right.replaced(population, values, new Set(), size)
  }),
  "what is replaced has the value that it was ranked by": () => ({
    ...right,
    replaced: (...given) => right.replaced(...given).map((one) => ({ ...one, value: one.value + 1 }))
  }),
  "members that make no room are members, and the newcomers a count": () => ({
    ...right,
    bounds: () => ({ kept: [Instruction.InstructionId.make("i99")], newcomers: 1 })
  }),
  "equal populations are decided on alike, and stay as they are": () => {
    let turn = 0
    return { ...right, bounds: () => ({ kept: [], newcomers: turn++ }) }
  }
}

describe("the laws of a rule of admission find a planted bug", { tags: "deep" }, () => {
  it.effect.each(AdmissionLaws.laws(right).map(({ name }) => name))("%s", (name) =>
    Effect.gen(function* () {
      const bug = bugs[name] ?? assert.fail("no bug is planted")
      assert.deepStrictEqual(
        (yield* Law.broken(AdmissionLaws.laws(bug()))).map(({ law }) => law),
        [name]
      )
    })
  )
})

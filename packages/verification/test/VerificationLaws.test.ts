import { assert, describe, it } from "@effect/vitest"
import { Law } from "@inspo/domain/testing"
import { Verification } from "@inspo/verification"
import { VerificationLaws } from "@inspo/verification/testing"
import { Effect } from "effect"

for (const make of [Verification.storedBaseline, Verification.rerunParent, Verification.untried])
  for (const fill of [false, true]) {
    const rule = make({ rounds: 3, fill })
    describe(`${rule.identity.name}, fill ${fill}`, () => {
      for (const { check, name } of VerificationLaws.laws(rule)) it.effect(name, () => check)
    })
  }

type Rule = Omit<Verification.Interface, "identity">
const right: Rule = Verification.rerunParent({ rounds: 2, fill: false })

/** For each law a rule that breaks it, and no other. */
const bugs: Readonly<Record<string, Rule>> = {
  "a verification takes at most one rollout of each candidate and the parent on each question": {
    ...right,
    plan: ({ candidates, questions }) => ({ parent: true, rollouts: 2 * candidates * questions })
  },
  "each candidate has one verdict, in order, the same each time": {
    ...right,
    judge: (evidence) =>
      right.judge(evidence).map((verdict, place) => (place === 0 ? { ...verdict, score: 1 } : verdict))
  },
  "a verdict has the means that it compares, in [0, 1], and counts questions": {
    ...right,
    judge: (evidence) =>
      right.judge(evidence).map((verdict) => ({ ...verdict, mean: verdict.mean * verdict.questions }))
  },
  "a candidate is not rejected for higher scores": {
    ...right,
    judge: (evidence) => right.judge(evidence).map((verdict) => ({ ...verdict, accepted: verdict.reason === "worse" }))
  },
  "places go to accepted candidates first, best first, and are counted": {
    ...right,
    refill: ({ places, verified }) => {
      const chosen = verified.filter(({ accepted }) => accepted).slice(0, places)
      return { chosen, shortfall: places - chosen.length }
    }
  },
  "no round follows when all places are taken, nor after many rounds": {
    ...right,
    needsRound: ({ places, verified }) => verified.filter(({ accepted }) => accepted).length < places
  }
}

describe("the laws of a verification rule find a planted bug", () => {
  it.effect.each(VerificationLaws.laws(right).map(({ name }) => name))("%s", (name) =>
    Effect.gen(function* () {
      const bug = bugs[name] ?? assert.fail("no bug is planted")
      assert.deepStrictEqual(
        (yield* Law.broken(VerificationLaws.laws(bug))).map(({ law }) => law),
        [name]
      )
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import * as Verification from "../../src/simulation/Verification.ts"
import { Verification as Rule } from "@inspo/verification"
import { Array as Arr, Schema } from "effect"
import { mean } from "simple-statistics"

const Share = Schema.Literals([0, 0.2, 0.35, 0.8, 1])
const Trials = Schema.Struct({
  parent: Share,
  candidates: Schema.NonEmptyArray(Share).check(Schema.isMaxLength(4)),
  correlation: Schema.Literals([0, 0.3, 1]),
  groupSize: Schema.Literals([1, 5]),
  questions: Schema.Literals([10, 25]),
  interimEvery: Schema.Literals([1, 10]),
  places: Schema.Literals([1, 4])
})
const options = { rounds: 1, fill: false }
const full = Rule.rerunParent(options)
const stopping = Rule.rerunParent({ ...options, stop: 0.05, race: true })

describe("simulate", () => {
  it.prop("gives one verdict each, and equal outcomes for equal arguments", [Trials, Schema.Int], ([trial, seed]) => {
    const outcome = Verification.simulate(trial, stopping, seed)
    assert.lengthOf(outcome.accepted, trial.candidates.length)
    assert.deepStrictEqual(Verification.simulate(trial, stopping, seed), outcome)
  })

  it.prop(
    "uses all rollouts without early stops, and at most as many with them",
    [Trials, Schema.Int],
    ([trial, seed]) => {
      const all = (trial.candidates.length + 1) * trial.questions * trial.groupSize
      assert.strictEqual(Verification.simulate(trial, full, seed).rollouts, all)
      assert.isAtMost(Verification.simulate(trial, stopping, seed).rollouts, all)
    }
  )

  it.prop(
    "has the verdict of the true rewards if the question decides alone, and accepts a clone",
    [Trials, Schema.Int],
    ([trial, seed]) => {
      const { accepted } = Verification.simulate({ ...trial, correlation: 1, questions: 25 }, full, seed)
      for (const [worth, verdict] of Arr.zip(trial.candidates, accepted))
        if (worth >= trial.parent) assert.isTrue(verdict)
      const certain = Verification.simulate({ ...trial, correlation: 1, parent: 1 }, full, seed).accepted
      assert.deepStrictEqual(
        certain.map((verdict, index) => (trial.candidates[index] ?? 0) > 0 || !verdict),
        certain.map(() => true)
      )
    }
  )

  it("accepts about half of equally good arms, and more of better ones", () => {
    const trial = {
      parent: 0.35,
      correlation: 0.3,
      groupSize: 1,
      questions: 60,
      interimEvery: 10,
      places: 4,
      candidates: [0.35, 0.5, 0.2]
    }
    const outcomes = Arr.range(1, 400).map((seed) => Verification.simulate(trial, full, seed).accepted)
    const share = (place: number) => mean(outcomes.map((accepted) => (accepted[place] === true ? 1 : 0)))
    assert.closeTo(share(0), 0.54, 0.08)
    assert.isAbove(share(1), 0.9)
    assert.isBelow(share(2), 0.1)
  })
})

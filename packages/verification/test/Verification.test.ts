import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, Option, Order, Schema } from "effect"
import { Verification } from "../src/index.ts"

const options = { rounds: 3, fill: false }
const rules = [
  ["stored-baseline", Verification.storedBaseline],
  ["rerun-parent", Verification.rerunParent]
] as const

const Reward = Schema.Literals([0, 0.1, 0.2, 0.3, 0.7, 1])
/** Six questions, so that every candidate and the parent meet the same. */
const Scores = Schema.Tuple([Reward, Reward, Reward, Reward, Reward, Reward])
const Evidence = Schema.Struct({
  candidates: Schema.Array(Scores),
  parent: Scores,
  storedParentMean: Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))
})
const mean = (scores: ReadonlyArray<number>) => scores.reduce((sum, score) => sum + score, 0) / scores.length

const Verified = Schema.Struct({ accepted: Schema.Boolean, score: Schema.Literals([-0.5, 0, 0.25, 1]) })
const Places = Schema.Literals([0, 1, 2, 3, 10])

describe.each(rules)("%s", (name, make) => {
  const rule = make(options)
  const baseline = (evidence: Verification.Evidence) =>
    name === "stored-baseline" ? evidence.storedParentMean : mean(evidence.parent ?? [])

  it.prop("accepts a candidate exactly when its mean is not below the parent's", [Evidence], ([evidence]) => {
    const verdicts = rule.judge(evidence)
    assert.lengthOf(verdicts, evidence.candidates.length)
    for (const [scores, verdict] of Array.zip(evidence.candidates, verdicts)) {
      const bar = baseline(evidence)
      assert.strictEqual(verdict.mean, mean(scores))
      assert.strictEqual(verdict.parentMean, bar)
      assert.strictEqual(verdict.questions, scores.length)
      assert.strictEqual(verdict.accepted, bar === null || mean(scores) >= bar)
      assert.strictEqual(verdict.reason, bar === null ? "no-baseline" : mean(scores) >= bar ? "not-worse" : "worse")
    }
  })

  it.prop("refuses invalid scores, and scores without a matching parent score", [Evidence], ([evidence]) => {
    for (const none of [-1, 5, NaN]) {
      const refused = /is .*; expected a reward in \[0, 1\]/u
      assert.throws(() => rule.judge({ ...evidence, candidates: [[none]] }), refused)
      assert.throws(() => rule.judge({ ...evidence, parent: [none] }), refused)
      assert.throws(() => rule.judge({ ...evidence, storedParentMean: none }), refused)
    }
    const longer = [...(evidence.parent ?? []), 1]
    assert.throws(
      () => rule.judge({ ...evidence, candidates: [longer] }),
      /expected at most as many as the parent has/u
    )
  })

  it.prop(
    "judges every candidate on its own: order and company do not matter",
    [Evidence, Schema.Natural],
    ([evidence, rotation]) => {
      const turn = rotation % Math.max(1, evidence.candidates.length)
      const rotated = Array.rotate(evidence.candidates, turn)
      assert.deepStrictEqual(rule.judge({ ...evidence, candidates: rotated }), Array.rotate(rule.judge(evidence), turn))
    }
  )

  it.prop(
    "never turns to rejection when a score rises",
    [Evidence, Scores, Schema.Literals([0, 1, 2, 3, 4, 5])],
    ([evidence, scores, question]) => {
      const raised = scores.map((score, k) => (k === question ? Math.max(score, 0.7) : score))
      const [before, after] = rule.judge({ ...evidence, candidates: [scores, raised] })
      assert.isTrue(before !== undefined && after !== undefined)
      if (before === undefined || after === undefined) return
      assert.isTrue(!before.accepted || after.accepted)
      assert.isAtLeast(after.score, before.score)
    }
  )

  it.prop(
    "refills with the accepted, best first and in order of arrival among equals",
    [Schema.Array(Verified), Places],
    ([verified, places]) => {
      const numbered = verified.map((candidate, index) => ({ ...candidate, index }))
      const { chosen, shortfall } = rule.refill({ places, verified: numbered })
      const ranked = Array.sort(
        numbered.filter(({ accepted }) => accepted),
        Order.combine(
          Order.mapInput(Order.Number, ({ score }: (typeof numbered)[number]) => -score),
          Order.mapInput(Order.Number, ({ index }) => index)
        )
      )
      assert.deepStrictEqual(chosen, ranked.slice(0, places))
      assert.strictEqual(shortfall, places - chosen.length)
    }
  )

  it.prop(
    "with fill, takes the best rejected once no accepted are left",
    [Schema.Array(Verified), Places],
    ([verified, places]) => {
      const numbered = verified.map((candidate, index) => ({ ...candidate, index }))
      const short = rule.refill({ places, verified: numbered })
      const { chosen, shortfall } = make({ ...options, fill: true }).refill({ places, verified: numbered })
      assert.deepStrictEqual(chosen.slice(0, short.chosen.length), short.chosen)
      const filled = chosen.slice(short.chosen.length)
      assert.isTrue(filled.every(({ accepted }) => !accepted))
      const left = numbered.filter((candidate) => !candidate.accepted && !filled.includes(candidate))
      for (const one of filled) {
        assert.isTrue(left.every(({ index, score }) => score < one.score || (score === one.score && index > one.index)))
      }
      assert.strictEqual(shortfall, Math.max(0, places - verified.length))
    }
  )

  it.prop(
    "asks for another round while places are left, but not for more than allowed",
    [Schema.Array(Verified), Places, Schema.Literals([0, 1, 2, 3, 4])],
    ([verified, places, round]) => {
      const free = rule.refill({ places, verified }).shortfall > 0
      assert.strictEqual(rule.needsRound({ round, places, verified }), free && round < options.rounds)
    }
  )

  it("rejects a candidate without questions", () => {
    const [verdict] = rule.judge({ candidates: [[]], parent: [], storedParentMean: null })
    assert.deepStrictEqual(verdict, {
      accepted: false,
      reason: "no-questions",
      score: 0,
      mean: 0,
      parentMean: null,
      questions: 0,
      wins: 0,
      losses: 0
    })
  })

  it("plans a rollout per candidate and question, and the parent's where it is run again", () => {
    const parent = name === "rerun-parent"
    assert.deepStrictEqual(rule.plan({ candidates: 6, questions: 200 }), { parent, rollouts: parent ? 1400 : 1200 })
  })

  it.effect("is provided by its layer", () =>
    Effect.gen(function* () {
      const provided = yield* Verification.Verification
      assert.strictEqual(provided.identity.name, name)
      assert.isTrue(provided.needsRound({ round: 2, places: 1, verified: [] }))
      assert.isFalse(provided.needsRound({ round: 3, places: 1, verified: [] }))
    }).pipe(Effect.provideService(Verification.Verification, rule))
  )
})

describe("rerun-parent", () => {
  it.prop("counts the questions won and lost against the parent", [Scores, Scores], ([scores, parent]) => {
    const [verdict] = Verification.rerunParent(options).judge({ candidates: [scores], parent, storedParentMean: null })
    const differences = Array.zipWith(scores, parent, (own, parents) => own - parents)
    assert.strictEqual(verdict?.wins, differences.filter((difference) => difference > 0).length)
    assert.strictEqual(verdict?.losses, differences.filter((difference) => difference < 0).length)
  })

  it.prop(
    "compares one who left with the parent on the questions it met",
    [Scores, Scores, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6 }))],
    ([scores, parent, met]) => {
      const rule = Verification.rerunParent(options)
      const [verdict] = rule.judge({ candidates: [scores.slice(0, met)], parent, storedParentMean: null })
      assert.strictEqual(verdict?.parentMean, mean(parent.slice(0, met)))
    }
  )

  it("ranks by the difference to the parent, which rounds share, and the paper by the mean", () => {
    const easy = { candidates: [[1, 1]], parent: [1, 1], storedParentMean: 1 }
    const hard = { candidates: [[0.3, 0.3]], parent: [0, 0], storedParentMean: 0 }
    const better = (rule: Verification.Interface) => {
      const verified = [...rule.judge(easy), ...rule.judge(hard)]
      return Option.getOrThrow(Array.head(rule.refill({ places: 1, verified }).chosen)).mean
    }
    assert.strictEqual(better(Verification.rerunParent(options)), 0.3)
    assert.strictEqual(better(Verification.storedBaseline(options)), 1)
  })

  it("falls back on the parent's mean on record when the parent was not run again", () => {
    const [verdict] = Verification.rerunParent(options).judge({
      candidates: [[0, 1]],
      parent: null,
      storedParentMean: 0.6
    })
    assert.strictEqual(verdict?.parentMean, 0.6)
    assert.strictEqual(verdict?.accepted, false)
  })
})

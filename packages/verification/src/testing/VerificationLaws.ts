/** The laws of every verification rule. */
import { Law } from "@inspo/domain/testing"
import { Arbitrary, Schema } from "effect"
import { type Evidence, type Interface, Verdict } from "../Verification.ts"

/**
 * The laws of a `Verification.Interface`. They say nothing of how good a candidate has to be, only that a better one is not
 * rejected in its place.
 */
export const laws = (rule: Rule, options?: Law.Options): ReadonlyArray<Law.Law> => [
  ...judgingLaws(rule, options),
  ...placingLaws(rule, options)
]

type Rule = Pick<Interface, "judge" | "needsRound" | "plan" | "refill">

const judgingLaws = ({ judge, plan }: Rule, options: Law.Options | undefined): ReadonlyArray<Law.Law> => [
  Law.forAll(
    "a verification takes at most one rollout of each candidate and the parent on each question",
    Arbitrary.schema(Schema.Struct({ candidates: Count, questions: Count })),
    options,
    (request) => {
      const { rollouts } = plan(request)
      const most = (request.candidates + 1) * request.questions
      Law.expect(
        Number.isInteger(rollouts) && rollouts >= 0 && rollouts <= most,
        `${rollouts} rollouts of at most ${most}`
      )
    }
  ),

  Law.forAll("each candidate has one verdict, in order, the same each time", evidences, options, (evidence) => {
    const verdicts = judge(evidence)
    Law.same(verdicts.length, evidence.candidates.length, "the number of verdicts")
    Law.same(judge(evidence), verdicts, "the verdicts on the same evidence")
    const reversed = judge({ ...evidence, candidates: evidence.candidates.toReversed() })
    Law.same(reversed.toReversed(), verdicts, "the verdicts on the candidates in reverse")
  }),

  Law.forAll(
    "a verdict has the means that it compares, in [0, 1], and counts questions",
    evidences,
    options,
    (evidence) => {
      for (const [place, verdict] of judge(evidence).entries()) {
        Law.expect(isVerdict(verdict), `a verdict is ${JSON.stringify(verdict)}`)
        const { losses, mean, parentMean, questions, wins } = verdict
        for (const one of [mean, parentMean ?? 0]) Law.expect(one >= 0 && one <= 1, `a mean is ${one}`)
        const asked = evidence.candidates[place]?.length ?? 0
        Law.expect(
          questions <= asked && wins + losses <= questions,
          `${wins} wins and ${losses} losses of ${questions} questions, asked ${asked}`
        )
      }
    }
  ),

  Law.forAll("a candidate is not rejected for higher scores", evidences, options, (evidence) => {
    const raised = {
      ...evidence,
      candidates: evidence.candidates.map((scores) => scores.map((score) => (score + 1) / 2))
    }
    const after = judge(raised)
    for (const [place, { accepted }] of judge(evidence).entries())
      Law.expect(
        !accepted || after[place]?.accepted === true,
        `candidate ${place} is accepted, but not with higher scores`
      )
  })
]

const placingLaws = ({ needsRound, refill }: Rule, options: Law.Options | undefined): ReadonlyArray<Law.Law> => [
  Law.forAll("places go to accepted candidates first, best first, and are counted", refills, options, (request) => {
    const { chosen, shortfall } = refill(request)
    const { places, verified } = request
    Law.same(chosen, [...new Set(chosen)], "the chosen candidates")
    for (const one of chosen) Law.expect(verified.includes(one), `${JSON.stringify(one)} is no candidate`)
    Law.expect(chosen.length <= places, `${chosen.length} candidates take ${places} places`)
    Law.same(shortfall, places - chosen.length, "the places that stay free")
    const left = verified.filter((one) => one.accepted && !chosen.includes(one))
    const scores = chosen.filter(({ accepted }) => accepted).map(({ score }) => score)
    Law.same(
      scores,
      scores.toSorted((a, b) => b - a),
      "the scores of the accepted in the order of places"
    )
    Law.expect(
      left.length === 0 || (scores.length === chosen.length && chosen.length === places),
      "an accepted candidate is left out while a place is free or goes to a rejected one"
    )
    for (const { score } of left)
      Law.expect(score <= Math.min(...scores, Infinity), `a candidate of score ${score} is left out`)
  }),

  Law.forAll(
    "no round follows when all places are taken, nor after many rounds",
    refills,
    options,
    ({ places, verified }) => {
      const taken = verified.filter(({ accepted }) => accepted).length
      Law.expect(
        taken < places || !needsRound({ round: 1, places, verified }),
        `a round follows with ${taken} of ${places} places taken`
      )
      Law.expect(!needsRound({ round: 1e6, places, verified }), "a round follows after a million")
    }
  )
]

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))
const Score = Schema.Literals([0, 0.25, 0.5, 1])

const isVerdict = Schema.is(Verdict)

/** Scores of candidates on some questions, and of a parent on all where it was run again. */
const evidences: Arbitrary.Arbitrary<Evidence> = Arbitrary.map(
  Arbitrary.schema(
    Schema.Struct({
      parent: Schema.Array(Score).check(Schema.isMaxLength(5)),
      isRerun: Schema.Boolean,
      candidates: Schema.Array(Schema.Array(Score).check(Schema.isMaxLength(5))).check(Schema.isMaxLength(4)),
      storedParentMean: Schema.NullOr(Score)
    })
  ),
  ({ candidates, isRerun, parent, storedParentMean }) => ({
    candidates: candidates.map((scores) => scores.slice(0, parent.length)),
    parent: isRerun ? parent : null,
    storedParentMean
  })
)

const refills = Arbitrary.schema(
  Schema.Struct({
    places: Count,
    verified: Schema.Array(Schema.Struct({ accepted: Schema.Boolean, score: Score })).check(Schema.isMaxLength(6))
  })
)

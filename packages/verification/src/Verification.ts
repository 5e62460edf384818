/** Which candidates may join the population. */
import { Array as Arr, Context, Layer, Order, Schema } from "effect"
import { InvalidInput, Invariant, type Strategy } from "@inspo/domain"

/**
 * The verdict on a candidate, with its reason.
 *
 * - `not-worse`: its mean is at least the parent's
 * - `no-baseline`: the parent has no score to compare with
 * - `worse`: its mean is below the parent's
 * - `no-questions`: it was asked no question
 * - `untried`: candidates join without verification
 */
export const VerdictReason = Schema.Literals(["not-worse", "no-baseline", "worse", "no-questions", "untried"])
export type VerdictReason = typeof VerdictReason.Type

/**
 * A judged candidate. `mean` is its mean reward over `questions` questions, `parentMean` what it was compared with, both
 * in [0, 1]. `wins` and `losses` count the questions where it scored above and below a parent that was run again, else 0.
 * `score` ranks accepted candidates, across rounds.
 */
export const Verdict = Schema.Struct({
  accepted: Schema.Boolean,
  reason: VerdictReason,
  score: Schema.Finite,
  mean: Schema.Finite,
  parentMean: Schema.NullOr(Schema.Finite),
  questions: Schema.Natural,
  wins: Schema.Natural,
  losses: Schema.Natural
})
export interface Verdict extends Schema.Schema.Type<typeof Verdict> {}

/** A verification rule. Pure. Throws `InvalidInput` on scores outside [0, 1], and on more scores than the parent has. */
export interface Interface {
  readonly identity: Strategy.Identity
  /** The rollouts needed to judge this many candidates on this many questions. */
  readonly plan: (request: { readonly candidates: number; readonly questions: number }) => Plan
  /** One verdict for each candidate, in their order. */
  readonly judge: (evidence: Evidence) => ReadonlyArray<Verdict>
  /** Whether another round of proposing is due: places and rounds are left. */
  readonly needsRound: (progress: Progress) => boolean
  /** The candidates that take the free places, best first; `shortfall` is how many places stay free. */
  readonly refill: <A extends Pick<Verdict, "accepted" | "score">>(request: {
    readonly places: number
    readonly verified: ReadonlyArray<A>
  }) => { readonly chosen: ReadonlyArray<A>; readonly shortfall: number }
}

/** The verification rule of a run. */
export class Verification extends Context.Service<Verification, Interface>()("@inspo/verification/Verification") {}

/** Provides a rule; by default {@link rerunParent}. */
export const layer = (rule: Interface = rerunParent()): Layer.Layer<Verification> => Layer.succeed(Verification, rule)

/** `parent` says whether the parent is rolled out too; `rollouts` counts all trajectories, one per question each. */
export interface Plan {
  readonly parent: boolean
  readonly rollouts: number
}

/**
 * Rewards on the verification questions, in [0, 1]: `candidates[i][k]` is candidate i's on question k.
 * `parent` holds the parent's on the same questions where it was run again.
 */
export interface Scores {
  readonly candidates: ReadonlyArray<ReadonlyArray<number>>
  readonly parent: ReadonlyArray<number> | null
}

/** The scores of a batch: of each question that no arm failed on, in the order in which they were asked. */
export const paired = <Q>(
  questions: ReadonlyArray<Q>,
  arms: ReadonlyArray<(question: Q, index: number) => number | null>
): { readonly questions: ReadonlyArray<Q>; readonly scores: ReadonlyArray<ReadonlyArray<number>> } => {
  const rows = questions.map((question, index) => ({ question, scores: arms.map((arm) => arm(question, index)) }))
  const complete = rows.flatMap(({ question, scores }) => {
    const known = scores.filter((score) => score !== null)
    return known.length === arms.length ? [{ question, scores: known }] : []
  })
  return {
    questions: complete.map(({ question }) => question),
    scores: arms.map((_, arm) => complete.map(({ scores }) => Invariant.at(scores, arm, "score")))
  }
}

/** All scores; `storedParentMean` is the parent's mean on record, where there is one. */
export interface Evidence extends Scores {
  readonly storedParentMean: number | null
}

/** `round` counts the rounds done, `verified` are the verdicts of all of them. */
export interface Progress {
  readonly round: number
  readonly places: number
  readonly verified: ReadonlyArray<Pick<Verdict, "accepted">>
}

/** `rounds` is the largest number of rounds, by default 1; with `fill` the best rejected candidates take the places left after them. */
export interface Options {
  readonly rounds?: number
  readonly fill?: boolean
}

/**
 * As in the paper (lines 15-20): a candidate passes if its mean is at least the parent's stored mean. That mean
 * is biased low when the questions come from a buffer that prefers failures. Ranked by mean, across rounds too.
 */
export const storedBaseline = (options: Options = {}): Interface => ({
  ...common("stored-baseline", options, { parent: false }),
  judge: (evidence) => {
    assertEvidence(evidence)
    return evidence.candidates.map((scores) => judge(scores, null, evidence.storedParentMean, "mean"))
  }
})

/**
 * The parent is run again on the same questions, so that both use the same policy, and a candidate
 * passes if it is not worse on the questions it was asked. Ranked by the difference to the parent, since every round asks
 * other questions.
 */
export const rerunParent = (options: Options = {}): Interface => ({
  ...common("rerun-parent", options, { parent: true }),
  judge: (evidence) => {
    assertEvidence(evidence)
    const { candidates, parent, storedParentMean } = evidence
    return candidates.map((scores) => {
      const met = parent === null ? [] : parent.slice(0, scores.length)
      return judge(scores, parent, met.length === 0 ? storedParentMean : mean(met), "difference")
    })
  }
})

/** The control without verification: nothing is rolled out and every candidate passes, in order of proposal. */
export const untried = (options: Options = {}): Interface => ({
  ...common("untried", options, { parent: false }),
  plan: () => ({ parent: false, rollouts: 0 }),
  judge: ({ candidates }) =>
    candidates.map(() => ({
      accepted: true,
      reason: "untried",
      score: 0,
      mean: 0,
      parentMean: null,
      questions: 0,
      wins: 0,
      losses: 0
    }))
})

const common = (
  name: string,
  { fill = false, rounds = 1 }: Options,
  { parent }: Pick<Plan, "parent">
): Omit<Interface, "judge"> => ({
  identity: { name, parameters: { rounds, fill } },
  plan: ({ candidates, questions }) => ({ parent, rollouts: (candidates + (parent ? 1 : 0)) * questions }),
  needsRound: ({ places, round, verified }) =>
    round < rounds && verified.filter(({ accepted }) => accepted).length < places,
  refill: ({ places, verified }) => {
    const ranked = verified.toSorted(byScore)
    const entitled = [
      ...ranked.filter(({ accepted }) => accepted),
      ...(fill ? ranked.filter(({ accepted }) => !accepted) : [])
    ]
    const chosen = entitled.slice(0, Math.max(0, places))
    return { chosen, shortfall: Math.max(0, places - chosen.length) }
  }
})

const assertScores = ({ candidates, parent }: Scores): void => {
  if (parent !== null) InvalidInput.assertRewards(where, "parent", parent)
  for (const [place, scores] of candidates.entries()) {
    InvalidInput.assertRewards(where, `candidates[${place}]`, scores)
    if (parent !== null && scores.length > parent.length)
      InvalidInput.refuse({
        where,
        field: `scores of candidate ${place}`,
        value: scores.length,
        expected: `at most as many as the parent has, ${parent.length}`
      })
  }
}

const assertEvidence = (evidence: Evidence): void => {
  assertScores(evidence)
  if (evidence.storedParentMean !== null)
    InvalidInput.assertRewards(where, "storedParentMean", [evidence.storedParentMean])
}

const where = "Verification"

const judge = (
  scores: ReadonlyArray<number>,
  parent: ReadonlyArray<number> | null,
  parentMean: number | null,
  rankedBy: "mean" | "difference"
): Verdict => {
  const questions = scores.length
  const own = questions === 0 ? 0 : mean(scores)
  const reason = reasonFor(questions, own, parentMean)
  const pairs = Arr.zip(scores, parent ?? [])
  return {
    accepted: reason === "not-worse" || reason === "no-baseline",
    reason,
    // Without a baseline there is no difference to rank by.
    score: rankedBy === "mean" || parentMean === null ? own : own - parentMean,
    mean: own,
    parentMean,
    questions,
    wins: pairs.filter(([candidate, parent]) => candidate > parent).length,
    losses: pairs.filter(([candidate, parent]) => candidate < parent).length
  }
}

const reasonFor = (questions: number, own: number, parentMean: number | null): VerdictReason => {
  if (questions === 0) return "no-questions"
  if (parentMean === null) return "no-baseline"
  return own >= parentMean ? "not-worse" : "worse"
}

// Summed in question order, so that rounding never lowers a mean when a score rises.
const mean = (scores: ReadonlyArray<number>): number => scores.reduce((sum, score) => sum + score, 0) / scores.length

/** Highest first; `sort` keeps the order of equals. */
const byScore: Order.Order<Pick<Verdict, "score">> = Order.flip(Order.mapInput(Order.Number, ({ score }) => score))

/**
 * A round of verification as a state machine: some candidates and their parent are asked the same questions, in one batch
 * or in several with an interim analysis after each, by rollouts of its own or in the groups of ordinary steps.
 *
 * `begin` → (`nextQuestions` or `divide` → `record` → `analyse` → `proceed`)* → `judge`
 */
import * as Invariant from "@inspo/domain/Invariant"
import type { QuestionId } from "@inspo/domain/Question"
import type { Scores, Strategy, Verdict } from "./Verification.ts"

/**
 * How a round runs: on `questions` in total, with an interim analysis after every `interim` of them, null for none.
 * `inlineVerification` the questions are those of ordinary steps, and one that failed for any arm is replaced by another.
 */
export interface Design {
  readonly questions: number
  readonly interim: number | null
  readonly inlineVerification: boolean
}

/** The result of a batch of questions: `asked` of them, and the scores on those that no arm failed on. */
export interface Batch extends Scores {
  readonly asked: number
  readonly questions: ReadonlyArray<QuestionId>
}

/** A round so far. Candidates are identified by their indices; those of `remaining` are asked what comes next. */
export interface Round extends Batch {
  readonly batches: number
  /** How many questions of the latest batch no arm failed on. */
  readonly latest: number
  readonly remaining: ReadonlyArray<number>
}

/** A round of this many candidates before its first question. */
export const begin = (candidates: number): Round => ({
  batches: 0,
  latest: 0,
  asked: 0,
  questions: [],
  candidates: Array.from({ length: candidates }, () => []),
  parent: null,
  remaining: Array.from({ length: candidates }, (_, place) => place)
})

/** The questions of the next batch, from all those of a round with its own rollouts. */
export const nextQuestions = <Q>(
  { interim }: Design,
  { asked }: Round,
  questions: ReadonlyArray<Q>
): ReadonlyArray<Q> => (interim === null ? questions.slice(asked) : questions.slice(asked, asked + interim))

/**
 * Divides the batch of an ordinary step: the first questions that are not `excluded` are `asked`, each in a group of the
 * parent and of every remaining candidate. As many of the `others` follow as fill the batch.
 */
export const divide = <Q extends { readonly id: QuestionId }>(
  design: Design,
  round: Round,
  { batch, excluded }: { readonly batch: ReadonlyArray<Q>; readonly excluded: ReadonlyArray<QuestionId> }
): { readonly asked: ReadonlyArray<Q>; readonly others: ReadonlyArray<Q> } => {
  const groups = 1 + round.remaining.length
  const known = new Set(excluded)
  const fresh = batch.filter(({ id }) => !known.has(id))
  const asked = fresh.slice(0, Math.min(left(design, round), Math.floor(batch.length / groups)))
  const chosen = new Set(asked.map(({ id }) => id))
  const others = batch.filter(({ id }) => !chosen.has(id)).slice(0, batch.length - asked.length * groups)
  return { asked, others }
}

/** The round after a batch. Throws `InvariantBroken` on scores of other candidates, or of a parent in one batch only. */
export const record = (round: Round, batch: Batch): Round => ({
  ...round,
  batches: round.batches + 1,
  latest: batch.questions.length,
  asked: round.asked + batch.asked,
  questions: [...round.questions, ...batch.questions],
  candidates: Invariant.zip(round.candidates, batch.candidates, "candidates of a batch").map(([known, scores]) => [
    ...known,
    ...scores
  ]),
  parent: round.batches === 0 ? batch.parent : ofParent(round.parent, batch.parent)
})

const ofParent = (known: Scores["parent"], scores: Scores["parent"]): Scores["parent"] => {
  if ((known === null) !== (scores === null))
    throw new Invariant.InvariantBroken({ missing: "the parent's score in one of two batches" })
  return known === null || scores === null ? null : [...known, ...scores]
}

/**
 * The analysis after a batch, where `places` are free for candidates: those that stay for another, or, if none follows,
 * those that would have stayed. In steps none follows the last step (`isLast`), nor one that brought no question with all its scores.
 */
export const analyse = (
  rule: Pick<Strategy, "remaining">,
  design: Design,
  round: Round,
  { isLast, places }: { readonly places: number; readonly isLast: boolean }
): Analysis => {
  const { candidates, parent } = round
  const open = rule.remaining({ candidates, parent, left: left(design, round), places })
  const isCut = design.inlineVerification && (isLast || round.latest === 0)
  return isCut ? { remaining: [], cutShort: open } : { remaining: open, cutShort: [] }
}

/** Candidates by their indices: those that get the next batch, and those whose verdict was open when the round ended. */
export interface Analysis {
  readonly remaining: ReadonlyArray<number>
  readonly cutShort: ReadonlyArray<number>
}

/** The verdicts on a finished round. A candidate whose round was cut short never passes, whatever its scores. */
export const judge = (
  rule: Pick<Strategy, "judge">,
  { candidates, parent }: Scores,
  { cutShort, storedParentMean }: Pick<Analysis, "cutShort"> & { readonly storedParentMean: number | null }
): ReadonlyArray<Verdict> =>
  rule
    .judge({ candidates, parent, storedParentMean })
    .map((verdict, place) =>
      cutShort.includes(place) && verdict.accepted ? { ...verdict, accepted: false, reason: "cut-short" } : verdict
    )

/** The round with those that stay. */
export const proceed = (round: Round, remaining: ReadonlyArray<number>): Round => ({ ...round, remaining })

/** How many questions are left to ask. */
const left = ({ inlineVerification, questions }: Design, round: Round): number =>
  Math.max(0, questions - (inlineVerification ? round.questions.length : round.asked))

/** The scores of a batch in which all arms were asked the same questions, as a round records them; null where an arm failed. */
export const scored = <Q extends QuestionId>(
  { candidates, remaining }: Pick<Round, "candidates" | "remaining">,
  asked: ReadonlyArray<Q>,
  ofParent: (question: Q) => number | null,
  ofCandidate: (place: number, question: Q) => number | null
) => {
  const arms = remaining.map((place) => (question: Q) => ofCandidate(place, question))
  const { questions, scores } = paired(asked, [ofParent, ...arms])
  const [parent = [], ...ofRemaining] = scores
  const byPlace = new Map(Invariant.zip(remaining, ofRemaining, "candidates and their scores"))
  return {
    asked: asked.length,
    questions,
    candidates: candidates.map((_, place) => byPlace.get(place) ?? []),
    parent
  }
}

/** The scores of a batch: of each question that no arm failed on, in the order in which they were asked. */
export const paired = <Q extends QuestionId>(
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

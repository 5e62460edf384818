/** Rounds of verification that are held in several looks, or in the groups of ordinary steps. */
import type { Instruction } from "@inspo/domain"
import { Group, Invariant } from "@inspo/domain"
import { Array as Arr } from "effect"
import type { CandidatesVerified } from "./RunEvent.ts"
import { candidateId, onTrial, type QuestionRef, type StepPlan, type Trial } from "./RunState.ts"

type Look = typeof CandidatesVerified.Type

/** The looks of one round as if they had been one, in their order. */
export const merge = ([first, ...others]: Arr.NonEmptyReadonlyArray<Look>): Look => others.reduce(append, first)

/** The questions that a round has scores on. */
export const answered = (looks: ReadonlyArray<Look>): number =>
  looks.reduce((total, { questions }) => total + questions.length, 0)

/** The candidates of a round as instructions that can be followed. */
export const instructions = ({ candidates, evolution }: Trial): ReadonlyArray<Instruction.Instruction> =>
  candidates.map((candidate, place) => onTrial(evolution, candidate, place))

/** The groups of a step that are given to a trial, and the questions left for the population. */
export interface Contest {
  readonly questions: ReadonlyArray<QuestionRef>
  readonly assignment: ReadonlyArray<Instruction.InstructionId>
  readonly others: ReadonlyArray<QuestionRef>
}

/**
 * Divides a batch of questions: the first ones that nobody reflected on become a group of each contestant, the parent and
 * those at the places `trying`; at most `left` of them. As many of the others follow as make a batch together.
 */
export const contest = (
  { evolution, parent, reflected }: Trial,
  options: { readonly batch: ReadonlyArray<QuestionRef>; readonly trying: ReadonlyArray<number>; readonly left: number }
): Contest => {
  const { batch, left, trying } = options
  const contestants = [parent, ...trying.map((place) => candidateId(evolution, place))]
  const known = new Set(reflected)
  const fresh = batch.filter(({ id }) => !known.has(id))
  const asked = fresh.slice(0, Math.min(left, Math.floor(batch.length / contestants.length)))
  const chosen = new Set(asked.map(({ id }) => id))
  return {
    questions: asked.flatMap((question) => contestants.map(() => question)),
    assignment: asked.flatMap(() => contestants),
    others: batch.filter(({ id }) => !chosen.has(id)).slice(0, batch.length - asked.length * contestants.length)
  }
}

/**
 * What the groups of a step say about the contestants: the mean reward of each on every question, where none of their
 * groups failed. The rollouts are those of the step.
 */
export const look = (
  { candidates, evolution, looks, parent }: Trial,
  plan: StepPlan,
  groups: ReadonlyArray<Group.Group>
): Look => {
  const ids = candidates.map((_, place) => candidateId(evolution, place))
  const planned = Invariant.zip(plan.questions, plan.assignment, "questions and instructions")
  const present = new Set(plan.assignment)
  const trying = ids.filter((id) => present.has(id))
  const tried = new Set(trying)
  const means = new Map(groups.map((group) => [key(group.instructionId, group.questionId), Group.meanReward(group)]))
  const asked = Arr.dedupe(planned.flatMap(([question, id]) => (tried.has(id) ? [question] : [])))
  const questions = asked.filter((question) => [parent, ...trying].every((id) => means.has(key(id, question))))
  const scores = (id: Instruction.InstructionId) =>
    questions.map((question) => Invariant.get(means, key(id, question), "score"))
  return {
    _tag: "CandidatesVerified",
    step: evolution.step,
    round: evolution.round,
    look: looks.length,
    questions,
    candidates: ids.map((id) => (tried.has(id) ? scores(id) : [])),
    parent: scores(parent),
    rollouts: 0,
    tokens: 0
  }
}

const key = (instruction: string, question: string): string => JSON.stringify([instruction, question])

const append = (before: Look, { candidates, failed, parent, questions, rollouts, tokens }: Look): Look => {
  const failures = [before.failed, failed].filter((one) => one !== undefined)
  const trajectories = failures.flatMap((one) => one.trajectories)
  return {
    ...before,
    questions: [...before.questions, ...questions],
    candidates: Invariant.zip(before.candidates, candidates, "candidates of two looks").map(([known, scores]) => [
      ...known,
      ...scores
    ]),
    parent: rerun(before.parent, parent),
    rollouts: before.rollouts + rollouts,
    tokens: before.tokens + tokens,
    ...(Arr.isArrayNonEmpty(trajectories)
      ? { failed: { ...failures[0], trajectories, tokens: failures.reduce((total, one) => total + one.tokens, 0) } }
      : {})
  }
}

/** The parent is run again in all looks of a round, or in none. */
const rerun = (before: Look["parent"], after: Look["parent"]): Look["parent"] => {
  if (before === null && after === null) return null
  if (before === null || after === null)
    throw new Invariant.InvariantBroken({ missing: "the parent's score in one of two looks" })
  return [...before, ...after]
}

/** What a round of verification does next: which questions are asked of whom, what they said, and what is decided. */
import { Group, type Instruction, Invariant, type Question, RandomStream } from "@inspo/domain"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Round, type Verification } from "@inspo/verification"
import { Array as Arr, Option } from "effect"
import type { Verify } from "../Command.ts"
import type { Algorithm } from "../Algorithm.ts"
import type { Setting } from "../Setting.ts"
import type { RunEvent } from "../RunEvent.ts"
import { candidateId, instruction, type QuestionRef, type RunState, type Verifying } from "../RunState.ts"
import * as Schedule from "../Schedule.ts"

/** The next batch of a round that has rollouts of its own. */
export const ask = (setting: Setting, state: RunState, verifying: Verifying): Verify => {
  const { candidates, evolution, parent, round } = verifying
  const { algorithm, strategies } = setting
  const plan = strategies.verification.plan({
    candidates: candidates.length,
    questions: algorithm.verification.samples
  })
  const questions = questionsOf(setting, state, verifying)
  return {
    _tag: "Verify",
    step: evolution.step,
    round: evolution.round,
    batch: round.batches,
    asked: round.asked,
    candidates,
    remaining: round.remaining,
    parent: plan.parent ? instruction(state, parent) : null,
    questions: Round.nextQuestions(design(algorithm, questions.length), round, questions)
  }
}

/** The part of an ordinary step's batch that a round is given, and the questions left for the population. */
export interface Share {
  readonly questions: ReadonlyArray<QuestionRef>
  readonly assignment: ReadonlyArray<Instruction.InstructionId>
  readonly others: ReadonlyArray<QuestionRef>
}

/** The share of a round that is held in steps: none while there is no such round. */
export const share = ({ algorithm }: Setting, { inSteps }: RunState, batch: ReadonlyArray<QuestionRef>): Share => {
  if (inSteps === null) return { questions: [], assignment: [], others: batch }
  const { parent, reflected, round } = inSteps
  const { asked, others } = Round.divide(design(algorithm, algorithm.verification.samples), round, {
    batch,
    excluded: reflected
  })
  const arms = [parent, ...remainingIds(inSteps)]
  return {
    questions: asked.flatMap((question) => arms.map(() => question)),
    assignment: asked.flatMap(() => arms),
    others
  }
}

/** What the groups of a step say about a round: the mean reward of parent and candidates on every question. */
export const score = (
  verifying: Verifying,
  { groups, plan }: Pick<Extract<RunState["phase"], { readonly _tag: "Score" }>, "groups" | "plan">
): RunEvent => {
  const { evolution, parent, round } = verifying
  const planned = Invariant.zip(plan.questions, plan.assignment, "questions and instructions")
  const means = new Map(groups.map((group) => [key(group.instructionId, group.questionId), Group.meanReward(group)]))
  const tried = new Set(remainingIds(verifying))
  const asked = Arr.dedupe(planned.flatMap(([question, id]) => (tried.has(id) ? [question] : [])))
  const mean = (id: string, question: string) => means.get(key(id, question)) ?? null
  return {
    _tag: "CandidatesVerified",
    step: evolution.step,
    round: evolution.round,
    batch: round.batches,
    ...Round.scored(
      round,
      asked,
      (question) => mean(parent, question),
      (place, question) => mean(candidateId(evolution, place), question)
    ),
    rollouts: 0,
    tokens: 0
  }
}

/** The analysis of a round after a batch: it goes on with those who stay, or ends with its verdicts. */
export const judge = (setting: Setting, state: RunState, verifying: Verifying): RunEvent => {
  const { algorithm, strategies } = setting
  const { evolution, round } = verifying
  const places = algorithm.population.size - evolution.parents.length
  const accepted = evolution.verified.filter((verdict) => verdict.accepted).length
  const isLast = Schedule.reuses(algorithm) && state.step >= algorithm.schedule.steps
  const questions = Schedule.reuses(algorithm)
    ? algorithm.verification.samples
    : questionsOf(setting, state, verifying).length
  const { cutShort, remaining } = Round.analyse(strategies.verification, design(algorithm, questions), round, {
    places: places - accepted,
    isLast
  })
  const { round: number, step } = evolution
  if (Arr.isReadonlyArrayNonEmpty(remaining)) return { _tag: "VerificationContinued", step, round: number, remaining }
  const judged = verdicts(setting, state, verifying, cutShort)
  const verified = [...evolution.verified, ...judged]
  return {
    _tag: "CandidatesJudged",
    step,
    round: number,
    verdicts: judged,
    again: !isLast && strategies.verification.needsRound({ round: number, places, verified })
  }
}

/** The verdicts on the candidates of a round that is over; permuted credit judges each by the scores of another. */
const verdicts = (
  { algorithm, strategies }: Setting,
  { buffer }: RunState,
  { evolution, parent, round }: Verifying,
  cutShort: ReadonlyArray<number>
): ReadonlyArray<Verification.Verdict> => {
  const candidates = algorithm.control.permuteCredit
    ? RandomStream.make(algorithm.seed, ["permuted-verification", evolution.step, evolution.round]).shuffle(
        round.candidates
      )
    : round.candidates
  const storedParentMean = Option.getOrNull(ReplayBuffer.storedMean(buffer, parent, round.questions))
  const scores = { candidates: compared(algorithm, buffer, parent, round.questions, candidates), parent: round.parent }
  return Round.judge(strategies.verification, scores, { cutShort, storedParentMean })
}

/** Row 31: the scores that are compared with the parent's record, of `shared` those on the questions that it covers. */
const compared = (
  { verification: { baseline } }: Algorithm,
  buffer: ReplayBuffer.Contents,
  parent: Instruction.InstructionId,
  questions: ReadonlyArray<Question.QuestionId>,
  candidates: ReadonlyArray<ReadonlyArray<number>>
): ReadonlyArray<ReadonlyArray<number>> => {
  if (baseline !== "shared") return candidates
  const met = new Set(
    buffer.experiences.flatMap(({ instructionId, questionId }) => (instructionId === parent ? [questionId] : []))
  )
  const covers = questions.map((question) => met.has(question))
  return covers.includes(true) ? candidates.map((scores) => scores.filter((_, at) => covers[at])) : candidates
}

const design = ({ verification, ...algorithm }: Algorithm, questions: number): Round.Design => ({
  questions,
  interim: verification.stop === null ? null : verification.lookEvery,
  inSteps: Schedule.reuses({ ...algorithm, verification })
})

/** D_B of a round that has rollouts of its own. */
const questionsOf = (
  { algorithm, strategies }: Setting,
  state: RunState,
  { evolution, reflected }: Verifying
): ReadonlyArray<Question.QuestionId> =>
  strategies.buffer.verificationQuestions(state.buffer, {
    samples: algorithm.verification.samples,
    exclude: reflected,
    seed: algorithm.seed,
    path: ["verification", evolution.step, evolution.round]
  })

const remainingIds = ({ evolution, round }: Verifying): ReadonlyArray<Instruction.InstructionId> =>
  round.remaining.map((place) => candidateId(evolution, place))

const key = (instruction: string, question: string): string => JSON.stringify([instruction, question])

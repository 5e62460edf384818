/** How a run verifies candidates: on which questions, by which scores, in separate rollouts or in the groups of steps. */
import { type Instruction, Invariant, type Question, RandomStream } from "@inspo/domain"
import { TrialBatch, type VerificationContext } from "@inspo/evolution"
import { type EvolutionIn, isIn } from "@inspo/evolution/State"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Round, type Verification } from "@inspo/verification"
import { Option } from "effect"
import type { Verify } from "../Command.ts"
import type { Algorithm } from "../Algorithm.ts"
import type { DecisionContext } from "../DecisionContext.ts"
import { instruction, type QuestionRef, type RunState } from "../RunState.ts"
import * as Schedule from "../Schedule.ts"

type Trial = EvolutionIn<"PairedTrial">

/** The input of evolution for verification. */
export const verificationContext = (context: DecisionContext, state: RunState): VerificationContext => {
  const { algorithm } = context
  const { due, evolution, step } = state
  return {
    design: design(
      algorithm,
      // Only an analysis needs these: other decisions need no questions, and `ask` draws its own.
      due === "Judge" && isIn(evolution, "PairedTrial") && !Schedule.reuses(algorithm)
        ? questionsOf(context, state, evolution).length
        : algorithm.verification.samples
    ),
    isSplit: false,
    isLast: Schedule.reuses(algorithm) && step >= algorithm.schedule.steps,
    evidence: (trial) => evidence(algorithm, state, trial)
  }
}

/** The next batch of a verification with separate rollouts. */
export const ask = (context: DecisionContext, state: RunState): Verify => {
  const { evolution } = state
  if (!isIn(evolution, "PairedTrial")) throw new Invariant.InvariantBroken({ missing: "a trial" })
  const { candidates, parent, round } = evolution.stage
  const { algorithm, strategies } = context
  const plan = strategies.verification.plan({
    candidates: candidates.length,
    questions: algorithm.verification.samples
  })
  const questions = questionsOf(context, state, evolution)
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

/** The part of a step's batch that a verification uses, and the questions left for the population. */
export const share = ({ algorithm }: DecisionContext, state: RunState, batch: ReadonlyArray<QuestionRef>) => {
  const { arms, asked, others } = TrialBatch.divide(design(algorithm, algorithm.verification.samples), state, batch)
  return {
    questions: asked.flatMap((question) => arms.map(() => question)),
    assignment: asked.flatMap(() => arms),
    others
  }
}

/** The scores of a verification; permuted credit gives each candidate those of another. */
const evidence = (
  algorithm: Algorithm,
  { buffer }: RunState,
  { round: number, stage, step }: Trial
): Verification.Evidence => {
  const { parent, round } = stage
  const candidates = algorithm.control.permuteCredit
    ? RandomStream.make(algorithm.randomSeed, ["permuted-verification", step, number]).shuffle(round.candidates)
    : round.candidates
  return {
    candidates: compared(algorithm, buffer, parent, round.questions, candidates),
    parent: round.parent,
    storedParentMean: Option.getOrNull(ReplayBuffer.storedMean(buffer, parent, round.questions))
  }
}

/** Row 31: the scores that are compared with the parent's record, for `shared` only those on the questions that it covers. */
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
  inlineVerification: Schedule.reuses({ ...algorithm, verification })
})

/** D_B of a round with separate rollouts. */
const questionsOf = (
  { algorithm, strategies }: DecisionContext,
  state: RunState,
  { round, stage, step }: Trial
): ReadonlyArray<Question.QuestionId> =>
  strategies.buffer.verificationQuestions(state.buffer, {
    samples: algorithm.verification.samples,
    exclude: stage.reflected,
    seed: algorithm.randomSeed,
    path: ["verification", step, round]
  })

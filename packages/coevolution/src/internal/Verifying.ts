/** How a run verifies candidates: on which questions, and by which scores. */
import { type Instruction, Invariant, type Question, RandomStream } from "@inspo/domain"
import { type EvolutionIn, type Scores, type VerificationContext, isIn } from "@inspo/evolution"
import { ReplayBuffer } from "@inspo/replay-buffer"
import type { Verification } from "@inspo/verification"
import { Option } from "effect"
import type { Verify } from "../Command.ts"
import type { Algorithm } from "../Algorithm.ts"
import type { DecisionContext } from "../Strategies.ts"
import { instruction, type RunState } from "../RunState.ts"

/** The input of evolution for verification. */
export const verificationContext = ({ algorithm }: DecisionContext, state: RunState): VerificationContext => ({
  asks: algorithm.verification.samples > 0,
  evidence: (evolution) => evidence(algorithm, state, evolution)
})

/** The rollouts of a verification. */
export const ask = ({ algorithm, strategies }: DecisionContext, state: RunState): Verify => {
  const { buffer, evolution } = state
  if (!isIn(evolution, "Verifying")) throw new Invariant.InvariantBroken("candidates")
  const { round, stage, step } = evolution
  const { candidates, parent, reflected } = stage
  const { samples } = algorithm.verification
  return {
    _tag: "Verify",
    step,
    round,
    candidates,
    parent: strategies.verification.plan({ candidates: candidates.length, questions: samples }).parent
      ? instruction(state, parent)
      : null,
    questions: strategies.buffer.verificationQuestions(buffer, {
      samples,
      exclude: reflected,
      seed: algorithm.randomSeed,
      path: ["verification", step, round]
    })
  }
}

/** The scores of a verification; permuted credit gives each candidate those of another. */
const evidence = (
  algorithm: Algorithm,
  { buffer }: RunState,
  { round, stage: { candidates, parent, scores }, step }: EvolutionIn<"Verifying">
): Verification.Evidence => {
  const known: Scores = scores ?? { questions: [], candidates: candidates.map(() => []), parent: null }
  const credited = algorithm.control.permuteCredit
    ? RandomStream.make(algorithm.randomSeed, ["permuted-verification", step, round]).shuffle(known.candidates)
    : known.candidates
  return {
    candidates: compared(algorithm, buffer, parent, known.questions, credited),
    parent: known.parent,
    storedParentMean: Option.getOrNull(ReplayBuffer.storedMean(buffer, parent, known.questions))
  }
}

/** Row 31: the scores that are compared with the parent's record, for `shared` only those on the questions that it covers. */
const compared = (
  { selection: { baseline } }: Algorithm,
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

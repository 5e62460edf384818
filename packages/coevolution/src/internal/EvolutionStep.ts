/** Evolution in a run: its next decision, or the event that it waits for. */
import { type Instruction, RandomStream, Invariant, type Question } from "@inspo/domain"
import * as Evolution from "@inspo/evolution"
import { type EvolutionIn, isIn, type Scores, type VerificationContext } from "@inspo/evolution"
import type { Population } from "@inspo/population"
import { ReplayBuffer } from "@inspo/replay-buffer"
import type { Verification } from "@inspo/verification"
import { Option } from "effect"
import type { Command, Verify } from "../Command.ts"
import type { DecisionContext } from "../Strategies.ts"
import type { RunEvent } from "../RunEvent.ts"
import { instruction, type RunState } from "../RunState.ts"
import type { Algorithm } from "../Algorithm.ts"

/** The next command of an evolution. */
export const next = (context: DecisionContext, state: RunState): Command => {
  const decision = Evolution.decide(kernelContext(context, state), state)
  if (decision !== null) return { _tag: "Record", event: decision }
  return isIn(state.evolution, "Proposing") ? propose(context, state, state.evolution) : ask(context, state)
}

const kernelContext = (context: DecisionContext, state: RunState): Evolution.DecisionContext => ({
  strategies: context.strategies,
  values: rankingValues(context, state),
  settings: context.algorithm,
  protectedIds: new Set(),
  generationOf: (id) => instruction(state, id).generation,
  verification: verificationContext(context, state)
})

/** Shows the first parent, in the order of the round, that has failures. */
const propose = (context: DecisionContext, state: RunState, evolution: EvolutionIn<"Proposing">): Command => {
  const { algorithm, strategies } = context
  const reflections = parentsOfRound(algorithm, evolution).map((parent) => ({
    parent,
    failures: strategies.buffer.failures(state.buffer, {
      parent,
      count: failuresShown,
      threshold: failureThreshold,
      seed: algorithm.randomSeed,
      path: ["failures", evolution.step, evolution.round]
    })
  }))
  const reflection = reflections.find(({ failures }) => failures.length > 0)
  if (reflection === undefined)
    return {
      _tag: "Record",
      event:
        evolution.round === 1 ? skipped(context, evolution) : Evolution.refill(kernelContext(context, state), state)
    }
  const parent = instruction(state, reflection.parent)
  const history = [...state.removed, ...strategies.valuation.values(state.population)].map(({ id, value }) => ({
    instruction: instruction(state, id),
    score: value
  }))
  return {
    _tag: "Propose",
    step: evolution.step,
    round: evolution.round,
    parent,
    failures: reflection.failures.map(({ trajectoryId }) => trajectoryId),
    count: Math.min(algorithm.proposer.candidates, Evolution.mostNewcomers(kernelContext(context, state), state)),
    known: [
      ...state.instructions.map(({ text }) => text),
      ...evolution.verified.map(({ candidate }) => candidate.text)
    ],
    history,
    notebook: Evolution.Notebook.ofState(state)
  }
}

const skipped = ({ algorithm }: DecisionContext, { parents, step }: EvolutionIn<"Proposing">): RunEvent => ({
  _tag: "EvolutionSkipped",
  step,
  reason:
    `${parents.join(" and ")} ${parents.length === 1 ? "has" : "have"} no failures to learn ` +
    `from in the last ${algorithm.selection.capacitySteps} steps`
})

/** Row 30: the paper draws one parent for each round; in turn, each round begins with the next. */
const parentsOfRound = (
  { randomSeed, selection }: DecisionContext["algorithm"],
  { parents, round, step }: EvolutionIn<"Proposing">
): ReadonlyArray<Instruction.InstructionId> => {
  if (selection.parent === "random") return RandomStream.make(randomSeed, ["parent", step, round]).shuffle(parents)
  const turn = (round - 1) % parents.length
  return [...parents.slice(turn), ...parents.slice(0, turn)]
}

/** Most failures in one proposal request. */
const failuresShown = 4

/** A trajectory below half of the full reward is a failure. */
const failureThreshold = 0.5

/** Row 3: the paper ranks by the values before this step's rewards, we by the current ones. */
const rankingValues = ({ algorithm, strategies }: DecisionContext, state: RunState): ReadonlyArray<Population.Value> =>
  algorithm.selection.ranking === "before" ? state.previousValues : strategies.valuation.values(state.population)

const verificationContext = ({ algorithm }: DecisionContext, state: RunState): VerificationContext => ({
  asks: algorithm.verification.samples > 0,
  evidence: (evolution) => evidence(algorithm, state, evolution)
})

const ask = ({ algorithm, strategies }: DecisionContext, state: RunState): Verify => {
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

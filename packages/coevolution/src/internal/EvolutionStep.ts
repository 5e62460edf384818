/** Evolution in a run: its next decision, or the event that it waits for. */
import { type Instruction, RandomStream } from "@inspo/domain"
import { type EvolutionIn, isIn } from "@inspo/evolution"
import * as Evolution from "@inspo/evolution"
import type { Population } from "@inspo/population"
import type { Command } from "../Command.ts"
import type { DecisionContext } from "../Strategies.ts"
import type { RunEvent } from "../RunEvent.ts"
import * as RunState from "../RunState.ts"
import * as Verifying from "./Verifying.ts"

/** The next command of an evolution. */
export const next = (context: DecisionContext, state: RunState.RunState): Command => {
  const decision = Evolution.decide(kernelContext(context, state), state)
  if (decision !== null) return { _tag: "Record", event: decision }
  return isIn(state.evolution, "Proposing") ? propose(context, state, state.evolution) : Verifying.ask(context, state)
}

/** The input of evolution for its decisions. */
const kernelContext = (context: DecisionContext, state: RunState.RunState): Evolution.DecisionContext => ({
  strategies: context.strategies,
  values: rankingValues(context, state),
  settings: context.algorithm,
  protectedIds: new Set(),
  generationOf: (id) => RunState.instruction(state, id).generation,
  verification: Verifying.verificationContext(context, state)
})

/** Shows the first parent, in the order of the round, that has failures. */
const propose = (context: DecisionContext, state: RunState.RunState, evolution: EvolutionIn<"Proposing">): Command => {
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
  const parent = RunState.instruction(state, reflection.parent)
  const history = [...state.removed, ...strategies.valuation.values(state.population)].map(({ id, value }) => ({
    instruction: RunState.instruction(state, id),
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
    history
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
const rankingValues = (
  { algorithm, strategies }: DecisionContext,
  state: RunState.RunState
): ReadonlyArray<Population.Value> =>
  algorithm.selection.ranking === "before" ? state.previousValues : strategies.valuation.values(state.population)

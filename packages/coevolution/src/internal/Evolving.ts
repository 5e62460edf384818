/** What an evolution decides: who is pruned, who descends, whom the proposer is shown, and who enters. */
import { Invariant, RandomStream } from "@inspo/domain"
import type { InstructionId } from "@inspo/domain/Instruction"
import type { Population } from "@inspo/population"
import { Array as Arr } from "effect"
import type { Command } from "../Command.ts"
import type { Setting } from "../Setting.ts"
import type { RunEvent } from "../RunEvent.ts"
import * as RunState from "../RunState.ts"

/** Who leaves by successive halving. */
export const prune = (setting: Setting, state: RunState.RunState): RunEvent => {
  const { kept, pruned } = setting.strategies.halving.prune(state.population, rankingWeights(setting, state))
  return { _tag: "Pruned", step: state.step, pruned, kept }
}

/** The beginning of an evolution: its parents, best first (row 28). */
export const chooseParents = (setting: Setting, state: RunState.RunState): RunEvent => {
  const chosen = setting.strategies.halving
    .parents(state.population, rankingWeights(setting, state))
    .map((member) => member.instruction.id)
  if (!Arr.isReadonlyArrayNonEmpty(chosen)) throw new Invariant.InvariantBroken({ missing: "every parent" })
  return { _tag: "ParentsChosen", step: state.step, parents: chosen }
}

/** The first parent of a round's order that has failures is shown. */
export const propose = (setting: Setting, state: RunState.RunState, evolution: RunState.Evolution): Command => {
  const { algorithm, strategies } = setting
  const reflections = parentsOfRound(algorithm, evolution).map((parent) => ({
    parent,
    failures: strategies.buffer.failures(state.buffer, {
      parent,
      count: failuresShown,
      threshold: failureThreshold,
      seed: algorithm.seed,
      path: ["failures", evolution.step, evolution.round]
    })
  }))
  const reflection = reflections.find(({ failures }) => failures.length > 0)
  if (reflection === undefined)
    return evolution.round === 1
      ? {
          _tag: "Record",
          event: {
            _tag: "EvolutionSkipped",
            step: evolution.step,
            reason:
              `${evolution.parents.join(" and ")} ${evolution.parents.length === 1 ? "has" : "have"} no failures to learn ` +
              `from in the last ${algorithm.buffer.capacitySteps} steps`
          }
        }
      : { _tag: "Record", event: refill(setting, state, evolution) }
  const parent = RunState.instruction(state, reflection.parent)
  const history = [...state.departed, ...strategies.weighting.weights(state.population)].map(({ id, weight }) => ({
    instruction: RunState.instruction(state, id),
    score: weight
  }))
  return {
    _tag: "Propose",
    step: evolution.step,
    round: evolution.round,
    parent,
    failures: reflection.failures.map(({ trajectoryId }) => trajectoryId),
    count: algorithm.proposer.candidates,
    known: [
      ...state.instructions.map(({ text }) => text),
      ...evolution.verified.map(({ candidate }) => candidate.text)
    ],
    history
  }
}

/** Row 30: the paper draws one parent for each round; in turn, each round begins with the next. */
const parentsOfRound = (
  { proposer, seed }: Setting["algorithm"],
  { parents, round, step }: RunState.Evolution
): ReadonlyArray<InstructionId> => {
  if (proposer.parent === "random") return RandomStream.make(seed, ["parent", step, round]).shuffle(parents)
  const turn = (round - 1) % parents.length
  return [...parents.slice(turn), ...parents.slice(0, turn)]
}

/** Failures that a proposer is shown at once. */
const failuresShown = 4

/** A trajectory below half of the full reward is a failure. */
const failureThreshold = 0.5

/** Who takes the places that are not the parents'. */
export const refill = (setting: Setting, state: RunState.RunState, evolution: RunState.Evolution): RunEvent => {
  const { algorithm, strategies } = setting
  const { chosen, shortfall } = strategies.verification.refill({
    places: algorithm.population.size - evolution.parents.length,
    verified: evolution.verified
  })
  return {
    _tag: "PopulationRefilled",
    step: state.step,
    parents: evolution.parents,
    replaced: strategies.halving.replaced(state.population, rankingWeights(setting, state), evolution.parents),
    accepted: chosen.map(({ candidate, mean, parent, questions, reason }, index) => ({
      instruction: {
        id: RunState.instructionId(state.instructions.length + index),
        text: candidate.text,
        generation: RunState.instruction(state, parent).generation + 1,
        parent,
        origin: "proposed",
        bornAt: state.step
      },
      mean,
      questions,
      verdict: reason
    })),
    shortfall
  }
}

/** Row 3: the paper ranks by the weights before this step's rewards, we by the present ones. */
const rankingWeights = (
  { algorithm, strategies }: Setting,
  state: RunState.RunState
): ReadonlyArray<Population.Weight> =>
  algorithm.halving.ranking === "before" ? state.previousWeights : strategies.weighting.weights(state.population)

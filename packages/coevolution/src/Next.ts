import type { Instruction } from "@inspo/domain"
import { LearningRate } from "@inspo/policy-gradient"
import { Population } from "@inspo/population"
import { QuestionStream, Sampler } from "@inspo/sampler"
import { Array as Arr } from "effect"
import type { Command } from "./Command.ts"
import { initialSize, type RunConfig } from "./Config.ts"
import type { Policies } from "./Policies.ts"
import type { RunEvent } from "./RunEvent.ts"
import * as RunState from "./RunState.ts"
import * as Schedule from "./Schedule.ts"
import * as Selection from "./Selection.ts"

/** What the core needs to know besides the state: constant over a run. */
export interface Setting {
  readonly config: RunConfig
  readonly policies: Policies
  /** The training questions, in the order of the data set. */
  readonly questions: ReadonlyArray<RunState.QuestionRef>
}

/**
 * The next command of Algorithm 1, or null when there is none: before the start and after the end. Pure: equal settings
 * and states give equal commands.
 */
export const next = (setting: Setting, state: RunState.RunState): Command | null => {
  const { config } = setting
  const { phase } = state
  switch (phase._tag) {
    case "Unstarted":
    case "Finished":
      return null
    case "Initialise":
      return {
        _tag: "Initialise",
        seeds: [config.instruction.seed, ...config.instruction.seeds],
        size: initialSize(config)
      }
    case "Checkpoint":
      return { _tag: "Checkpoint", step: state.step }
    case "Plan":
      return { _tag: "Record", event: planStep(setting, state) }
    case "Collect":
      return { _tag: "Collect", plan: phase.plan, instructions: Population.instructions(state.population) }
    case "PlanTraining":
      return trains(config, phase.plan.step)
        ? {
            _tag: "PlanTraining",
            step: phase.plan.step,
            learningRate: phase.plan.learningRate,
            groups: phase.groups
          }
        : { _tag: "Record", event: { _tag: "StepTrained", step: phase.plan.step, metrics: [] } }
    case "Train":
      return {
        _tag: "Train",
        step: phase.plan.step,
        learningRate: phase.plan.learningRate,
        groups: phase.groups,
        batchHash: phase.batchHash
      }
    case "Validate":
      return { _tag: "Validate", step: state.step, instruction: bestInstruction(setting, state) }
    case "Prune":
      return { _tag: "Record", event: prune(setting, state) }
    case "Propose":
      return propose(setting, state, phase.evolution)
    case "Verify":
      return config.verification.samples === 0
        ? { _tag: "Record", event: untried(phase) }
        : verify(setting, state, phase)
    case "Refill":
      return { _tag: "Record", event: refill(setting, state, phase.evolution) }
    case "Evaluate":
      return evaluate(setting, state)
  }
}

/** I*: the instruction to return and to use at inference. */
export const bestInstruction = (setting: Setting, state: RunState.RunState): Instruction.Instruction =>
  Arr.getUnsafe(Arr.fromOption(setting.policies.weighting.best(state.population)), 0).instruction

const planStep = (setting: Setting, state: RunState.RunState): RunEvent => {
  const { config, policies, questions } = setting
  const step = state.step + 1
  const batch = QuestionStream.batch({
    seed: config.seed,
    step,
    batchSize: config.train.batchSize,
    size: questions.length
  }).map((index) => Arr.getUnsafe(questions, index))
  const weights = policies.weighting.weights(state.population)
  const probabilities = Sampler.probabilities(
    weights.map(({ weight }) => weight),
    config.sampler.temperature
  )
  return {
    _tag: "StepPlanned",
    step,
    questions: batch.map(({ id }) => id),
    assignment: policies.assignment.assign({
      seed: config.seed,
      step,
      weights,
      temperature: config.sampler.temperature,
      questions: batch,
      guaranteed: config.sampler.newcomers === "everyone" ? Population.ids(state.population) : state.owed
    }),
    probabilities: Object.fromEntries(Arr.zip(weights, probabilities).map(([{ id }, p]) => [id, p])),
    learningRate: learningRate(config, step)
  }
}

const trains = (config: RunConfig, step: number): boolean => {
  const [first, last] = Schedule.trained(config)
  return step >= first && step <= last
}

/** The schedule of the learning rate spans the steps that train. */
const learningRate = (config: RunConfig, step: number): number => {
  const [first, last] = Schedule.trained(config)
  return LearningRate.at(config.train, step - first + 1, last - first + 1)
}

/** Row 3: the paper ranks by the weights before this step's rewards, we by the present ones. */
const rankingWeights = ({ config, policies }: Setting, state: RunState.RunState): ReadonlyArray<Population.Weight> =>
  config.halving.ranking === "before" ? state.previousWeights : policies.weighting.weights(state.population)

const prune = (setting: Setting, state: RunState.RunState): RunEvent => {
  const { kept, pruned } = setting.policies.halving.prune(state.population, rankingWeights(setting, state))
  return { _tag: "Pruned", step: state.step, pruned, kept }
}

/** The parents of an evolution that begins now, best first (row 28). */
export const parents = (setting: Setting, state: RunState.RunState): ReadonlyArray<Instruction.InstructionId> =>
  setting.policies.halving
    .parents(state.population, rankingWeights(setting, state))
    .map((member) => member.instruction.id)

/** Rounds take turns over the parents; one without failures gives its turn to the next. */
const propose = (setting: Setting, state: RunState.RunState, evolution: RunState.Evolution): Command => {
  const { config, policies } = setting
  const turn = (evolution.round - 1) % evolution.parents.length
  const reflections = [...evolution.parents.slice(turn), ...evolution.parents.slice(0, turn)].map((parent) => ({
    parent,
    failures: policies.buffer.failures(state.buffer, {
      parent,
      count: config.proposer.failures,
      threshold: failureThreshold,
      seed: config.seed,
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
              `from in the last ${config.buffer.capacitySteps} steps`
          }
        }
      : { _tag: "Record", event: refill(setting, state, evolution) }
  return {
    _tag: "Propose",
    step: evolution.step,
    round: evolution.round,
    parent: RunState.instruction(state, reflection.parent),
    failures: reflection.failures.map(({ trajectoryId }) => trajectoryId),
    count: config.proposer.candidates,
    known: [
      ...state.instructions.map(({ text }) => text),
      ...evolution.verified.map(({ candidate }) => candidate.text)
    ],
    history: [...state.departed, ...policies.weighting.weights(state.population)].map(({ id, weight }) => ({
      instruction: RunState.instruction(state, id),
      score: weight
    }))
  }
}

/** A trajectory below half of the full reward is a failure. */
const failureThreshold = 0.5

const verify = (
  setting: Setting,
  state: RunState.RunState,
  phase: Extract<RunState.Phase, { readonly _tag: "Verify" }>
): Command => {
  const { config, policies } = setting
  const { evolution } = phase
  const reflected = new Set<string>(phase.failures)
  const plan = policies.verification.plan({
    candidates: phase.candidates.length,
    questions: config.verification.samples
  })
  return {
    _tag: "Verify",
    step: evolution.step,
    round: evolution.round,
    candidates: phase.candidates,
    parent: plan.parent ? RunState.instruction(state, phase.parent) : null,
    questions: policies.buffer.verificationQuestions(state.buffer, {
      samples: config.verification.samples,
      exclude: state.buffer.experiences
        .filter(({ trajectoryId }) => reflected.has(trajectoryId))
        .map(({ questionId }) => questionId),
      seed: config.seed,
      path: ["verification", evolution.step, evolution.round]
    })
  }
}

/** Verification that is switched off: no questions, hence no scores. */
const untried = ({ candidates, evolution }: Extract<RunState.Phase, { readonly _tag: "Verify" }>): RunEvent => ({
  _tag: "CandidatesVerified",
  step: evolution.step,
  round: evolution.round,
  questions: [],
  candidates: candidates.map(() => []),
  parent: null,
  rollouts: 0,
  tokens: 0
})

const refill = (setting: Setting, state: RunState.RunState, evolution: RunState.Evolution): RunEvent => {
  const { config, policies } = setting
  const { chosen, shortfall } = policies.verification.refill({
    places: config.population.size - evolution.parents.length,
    verified: evolution.verified
  })
  return {
    _tag: "PopulationRefilled",
    step: evolution.step,
    parents: evolution.parents,
    replaced: policies.halving.replaced(state.population, rankingWeights(setting, state), evolution.parents),
    accepted: chosen.map((verified, index) => ({
      instruction: {
        id: RunState.instructionId(state.instructions.length + index),
        text: verified.candidate.text,
        generation: RunState.instruction(state, verified.parent).generation + 1,
        parent: verified.parent,
        origin: "proposed",
        bornAt: evolution.step
      },
      mean: verified.mean,
      questions: verified.questions,
      verdict: verified.reason
    })),
    shortfall
  }
}

/** The cells of the final table that are still open: the trained policy first, since it is loaded already. */
const evaluate = (setting: Setting, state: RunState.RunState): Command => {
  const best = bestInstruction(setting, state)
  const seed = Arr.getUnsafe(state.instructions, 0)
  const cells =
    setting.config.evaluation.questions === 0
      ? []
      : (["after", "before"] as const).flatMap((policy) =>
          (best.id === seed.id ? [seed] : [seed, best]).map((instruction) => ({ policy, instruction }))
        )
  const open = cells.find(
    ({ instruction, policy }) =>
      !state.evaluations.some((done) => done.policy === policy && done.instruction === instruction.id)
  )
  return open === undefined
    ? { _tag: "Record", event: { _tag: "RunFinished", best: best.id } }
    : {
        _tag: "Evaluate",
        ...open,
        checkpointStep: open.policy === "before" ? 0 : Selection.selected(setting.config, state).step
      }
}

import { type Instruction, Invariant, type Question, type Trajectory } from "@inspo/domain"
import { LearningRate } from "@inspo/policy-gradient"
import { Pareto, Population, Ranking } from "@inspo/population"
import { QuestionStream, Sampler } from "@inspo/sampler"
import { Array as Arr } from "effect"
import type { Command, Propose } from "./Command.ts"
import { bestInstruction, conclude } from "./Conclusion.ts"
import { initialSize, type RunConfig } from "./Config.ts"
import type { Policies } from "./Policies.ts"
import type { RunEvent } from "./RunEvent.ts"
import * as RunState from "./RunState.ts"
import * as Schedule from "./Schedule.ts"
import * as Selection from "./Selection.ts"
import * as Trial from "./Trial.ts"

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
      return {
        _tag: "Collect",
        plan: phase.plan,
        instructions: [
          ...Population.instructions(state.population),
          ...(state.trial === null ? [] : Trial.instructions(state.trial))
        ]
      }
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
    case "Judge":
      return { _tag: "Record", event: phase.look }
    case "Refill":
      return { _tag: "Record", event: refill(setting, state, phase.evolution) }
    case "Evaluate":
      return evaluate(setting, state)
  }
}

const planStep = (setting: Setting, state: RunState.RunState): RunEvent => {
  const { config, policies, questions } = setting
  const step = state.step + 1
  const batch = QuestionStream.batch({
    seed: config.seed,
    step,
    batchSize: config.train.batchSize,
    size: questions.length
  }).map((index) => Invariant.at(questions, index, "training question"))
  const weights = policies.weighting.weights(state.population)
  const probabilities = Sampler.probabilities(
    weights.map(({ weight }) => weight),
    config.sampler.temperature
  )
  const contest = planContest(setting, state, batch)
  return {
    _tag: "StepPlanned",
    step,
    questions: [...contest.questions, ...contest.others].map(({ id }) => id),
    assignment: [
      ...contest.assignment,
      ...policies.assignment.assign({
        seed: config.seed,
        step,
        weights,
        temperature: config.sampler.temperature,
        questions: contest.others,
        guaranteed: config.sampler.newcomers === "everyone" ? Population.ids(state.population) : state.owed
      })
    ],
    probabilities: Object.fromEntries(
      Invariant.zip(weights, probabilities, "probabilities").map(([{ id }, p]) => [id, p])
    ),
    learningRate: learningRate(config, step)
  }
}

/** The part of a batch that candidates under trial are tried on. */
const planContest = (
  setting: Setting,
  state: RunState.RunState,
  batch: ReadonlyArray<RunState.QuestionRef>
): Trial.Contest =>
  state.trial === null
    ? { questions: [], assignment: [], others: batch }
    : Trial.contest(state.trial, {
        batch,
        trying: undecided(setting, state, state.trial),
        left: setting.config.verification.samples - Trial.answered(state.trial.looks)
      })

/** Whether the policy is updated at a step. */
export const trains = (config: RunConfig, step: number): boolean => {
  const span = Schedule.trained(config)
  return span !== null && step >= span[0] && step <= span[1]
}

/** The schedule of the learning rate spans the steps that train; 0 where none does. */
const learningRate = (config: RunConfig, step: number): number => {
  const span = Schedule.trained(config)
  if (span === null) return 0
  const [first, last] = span
  return LearningRate.at(config.train, step - first + 1, last - first + 1)
}

/** Row 3: the paper ranks by the weights before this step's rewards, we by the present ones. */
const rankingWeights = ({ config, policies }: Setting, state: RunState.RunState): ReadonlyArray<Population.Weight> =>
  config.halving.ranking === "before" ? state.previousWeights : policies.weighting.weights(state.population)

const prune = (setting: Setting, state: RunState.RunState): RunEvent => {
  const { kept, pruned } = setting.policies.halving.prune(state.population, rankingWeights(setting, state))
  return { _tag: "Pruned", step: state.step, pruned, kept }
}

/**
 * The parents of an evolution that begins now, best first (row 28). By `pareto` those come first whom no other outdoes in
 * the mean reward of every data source, as the replay buffer tells it.
 */
export const parents = (setting: Setting, state: RunState.RunState): ReadonlyArray<Instruction.InstructionId> => {
  const { config, policies } = setting
  const weights = rankingWeights(setting, state)
  if (config.population.parentChoice === "weight")
    return policies.halving.parents(state.population, weights).map((member) => member.instruction.id)
  const ranked = Ranking.byTies[config.population.ties](state.population, weights).map(
    (member) => member.instruction.id
  )
  const weightOf = new Map(weights.map(({ id, weight }) => [id, weight]))
  const { experiences } = state.buffer
  const sources = Arr.dedupe(experiences.map(({ dataSource }) => dataSource))
  const front = Pareto.front(ranked, (id) =>
    sources.map((source) => {
      const own = experiences.filter((one) => one.instructionId === id && one.dataSource === source)
      return own.length === 0
        ? Invariant.get(weightOf, id, "weight")
        : own.reduce((sum, { reward }) => sum + reward, 0) / own.length
    })
  )
  return [...front, ...Arr.difference(ranked, front)].slice(0, config.population.parents)
}

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
  const parent = RunState.instruction(state, reflection.parent)
  const history = [...state.departed, ...policies.weighting.weights(state.population)].map(({ id, weight }) => ({
    instruction: RunState.instruction(state, id),
    score: weight
  }))
  return {
    _tag: "Propose",
    step: evolution.step,
    round: evolution.round,
    parent,
    failures: reflection.failures.map(({ trajectoryId }) => trajectoryId),
    count: config.proposer.candidates,
    mate: config.proposer.crossover === 0 ? null : mate(parent, history),
    crossover: config.proposer.crossover,
    archived: evolution.round === 1 ? archived(config, state) : [],
    known: [
      ...state.instructions.map(({ text }) => text),
      ...evolution.verified.map(({ candidate }) => candidate.text)
    ],
    history
  }
}

/** The highest score but the parent's; the earlier among equals. */
const mate = (parent: Instruction.Instruction, history: Propose["history"]): Instruction.Instruction | null =>
  history
    .filter(({ instruction }) => instruction.text !== parent.text)
    .reduce<Propose["history"][number] | null>(
      (best, one) => (best === null || one.score > best.score ? one : best),
      null
    )?.instruction ?? null

/** The instructions that left with the highest weights, each text once, without those that are alive. */
const archived = (
  { population: { archive } }: RunConfig,
  state: RunState.RunState
): ReadonlyArray<Instruction.Instruction> => {
  if (archive === 0) return []
  const alive = new Set(Population.instructions(state.population).map(({ text }) => text))
  const left = state.departed
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ id }) => RunState.instruction(state, id))
    .filter(({ text }) => !alive.has(text))
  return Arr.dedupeWith(left, (a, b) => a.text === b.text).slice(0, archive)
}

/** A trajectory below half of the full reward is a failure. */
const failureThreshold = 0.5

const verify = (setting: Setting, state: RunState.RunState, phase: RunState.Verifying): Command => {
  const { config, policies } = setting
  const { candidates, evolution, looks } = phase
  const { lookEvery, samples, stop } = config.verification
  const questions = verificationQuestions(setting, state, phase)
  const asked = looks.length * lookEvery
  return {
    _tag: "Verify",
    step: evolution.step,
    round: evolution.round,
    look: stop === null ? null : looks.length,
    asked,
    candidates,
    trying: undecided(setting, state, phase),
    parent: policies.verification.plan({ candidates: candidates.length, questions: samples }).parent
      ? RunState.instruction(state, phase.parent)
      : null,
    questions: stop === null ? questions : questions.slice(asked, asked + lookEvery)
  }
}

/** D_B of a round that has rollouts of its own. */
const verificationQuestions = (
  { config, policies }: Setting,
  state: RunState.RunState,
  { evolution, failures }: RunState.Verifying
): ReadonlyArray<Question.QuestionId> =>
  policies.buffer.verificationQuestions(state.buffer, {
    samples: config.verification.samples,
    exclude: reflectedQuestions(state, failures),
    seed: config.seed,
    path: ["verification", evolution.step, evolution.round]
  })

/** The questions that candidates were written from, which says nothing about how they do on others. */
export const reflectedQuestions = (
  { buffer }: RunState.RunState,
  failures: ReadonlyArray<Trajectory.TrajectoryId>
): ReadonlyArray<Question.QuestionId> => {
  const reflected = new Set<string>(failures)
  return buffer.experiences
    .filter(({ trajectoryId }) => reflected.has(trajectoryId))
    .map(({ questionId }) => questionId)
}

/** The candidates of a round that are still to be asked, by their places; none when it is over. */
export const undecided = (
  setting: Setting,
  state: RunState.RunState,
  verifying: RunState.Verifying
): ReadonlyArray<number> => {
  const { candidates, evolution, looks } = verifying
  if (!Arr.isReadonlyArrayNonEmpty(looks)) return [...candidates.keys()]
  const accepted = evolution.verified.filter((verdict) => verdict.accepted).length
  return setting.policies.verification.undecided({
    ...Trial.merge(looks),
    left: questionsLeft(setting, state, verifying),
    places: setting.config.population.size - evolution.parents.length - accepted
  })
}

const questionsLeft = (setting: Setting, state: RunState.RunState, verifying: RunState.Verifying): number => {
  const { lookEvery, samples, stop } = setting.config.verification
  if (Schedule.reuses(setting.config)) return Math.max(0, samples - Trial.answered(verifying.looks))
  if (stop === null) return 0
  return Math.max(0, verificationQuestions(setting, state, verifying).length - verifying.looks.length * lookEvery)
}

/** Verification that is switched off: no questions, hence no scores. */
const untried = ({ candidates, evolution }: RunState.Verifying): RunEvent => ({
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
    step: state.step,
    parents: evolution.parents,
    replaced: policies.halving.replaced(state.population, rankingWeights(setting, state), evolution.parents),
    accepted: chosen.map((verified, index) => ({
      instruction: {
        id: RunState.instructionId(state.instructions.length + index),
        text: verified.candidate.text,
        ...descent(config, state, verified),
        origin: "proposed",
        bornAt: state.step
      },
      mean: verified.mean,
      questions: verified.questions,
      verdict: verified.reason
    })),
    shortfall
  }
}

/** A candidate descends from its parent; an instruction that returns from the archive, from what it was. */
const descent = (
  { population }: RunConfig,
  state: RunState.RunState,
  { candidate, parent }: RunState.VerifiedCandidate
): Pick<Instruction.Instruction, "generation" | "parent"> => {
  const left = population.archive === 0 ? [] : state.departed.map(({ id }) => RunState.instruction(state, id))
  const former = left.find(({ text }) => text === candidate.text)
  return former === undefined
    ? { generation: RunState.instruction(state, parent).generation + 1, parent }
    : { generation: former.generation, parent: former.id }
}

/** The cells of the final table that are still open: the trained policy first, since it is loaded already. */
const evaluate = (setting: Setting, state: RunState.RunState): Command => {
  const best = conclude(setting, state).instruction
  const seed = Invariant.at(state.instructions, 0, "instruction")
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

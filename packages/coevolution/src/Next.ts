import { type Instruction, Invariant, RandomStream } from "@inspo/domain"
import { LearningRate } from "@inspo/policy-gradient"
import { Population } from "@inspo/population"
import { QuestionStream } from "@inspo/sampler"
import { afterUpdate } from "./Apply.ts"
import type { Command, Levels } from "./Command.ts"
import { bestInstruction, conclude } from "./Conclusion.ts"
import { initialSize, sharesGroups, type Algorithm } from "./Algorithm.ts"
import * as EvolutionStep from "./internal/EvolutionStep.ts"
import * as Rounds from "./Rounds.ts"
import type { RunEvent } from "./RunEvent.ts"
import type * as RunState from "./RunState.ts"
import * as Schedule from "./Schedule.ts"
import * as Selection from "./Selection.ts"
import type { DecisionContext } from "./Strategies.ts"

export type { DecisionContext } from "./Strategies.ts"

/**
 * The next command of Algorithm 1 in a run that has begun and not ended ({@link RunState.isRunning}). All decisions are
 * made here. Pure: equal settings and states give equal commands.
 */
export const next = (context: DecisionContext, state: RunState.Running): Command => {
  const { algorithm } = context
  const { phase } = state
  switch (phase._tag) {
    case "Initialise":
      return {
        _tag: "Initialise",
        seeds: [algorithm.seedInstruction, ...algorithm.variants],
        size: initialSize(algorithm)
      }
    case "Checkpoint":
      return { _tag: "Checkpoint", step: state.step, removed: Selection.stale(algorithm, state) }
    case "Plan":
      return record(planStep(context, state))
    case "Collect":
      return {
        _tag: "Collect",
        plan: phase.plan,
        instructions: Population.instructions(state.population),
        ...Rounds.toCollect(algorithm, phase)
      }
    case "Extend":
      return record(Rounds.next(context, state, phase))
    case "PlanTraining":
      return Schedule.trains(algorithm, phase.plan.step)
        ? {
            _tag: "PlanTraining",
            step: phase.plan.step,
            learningRate: phase.plan.learningRate,
            levels: levels(algorithm, phase.plan),
            rubrics: state.rubrics ?? {},
            ...Rounds.batch(algorithm, state, phase)
          }
        : record({ _tag: "StepTrained", step: phase.plan.step, metrics: [] })
    case "PlanAhead":
      return record({ ...planStep(context, afterUpdate(algorithm, state, phase.plan.step)), policy: state.step })
    case "Train":
      return {
        _tag: "Train",
        step: phase.plan.step,
        learningRate: phase.plan.learningRate,
        levels: levels(algorithm, phase.plan),
        groups: Rounds.batch(algorithm, state, phase).groups,
        replaced: phase.replaced ?? [],
        findings: phase.findings ?? null,
        batchHash: phase.batchHash,
        ahead:
          phase.ahead === undefined
            ? null
            : { plan: phase.ahead, instructions: Population.instructions(state.population) }
      }
    case "Validate":
      return { _tag: "Validate", step: state.step, instruction: bestInstruction(context, state) }
    case "Evolve":
      return EvolutionStep.next(context, state)
    case "Evaluate":
      return evaluate(context, state)
  }
}

const record = (event: RunEvent): Command => ({ _tag: "Record", event })

const planStep = (context: DecisionContext, state: RunState.RunState): RunState.StepPlan => {
  const { algorithm, questions, strategies } = context
  const step = state.step + 1
  const seed = algorithm.randomSeed
  const batch = QuestionStream.batch({ seed, step, batchSize: algorithm.train.batchSize, size: questions.length })
  const values = strategies.valuation.values(state.population)
  const probabilities = strategies.sampler.probabilities(values)
  const drawn = Rounds.assigned(context, values, { seed, step }, batch)
  return {
    _tag: "StepPlanned",
    step,
    questions: drawn.map(({ question }) => question),
    assignment: drawn.map(({ instruction }) => instruction),
    ...(sharesGroups(algorithm) ? { samples: drawn.map(({ samples }) => samples) } : {}),
    values,
    ...(algorithm.control.permuteCredit ? { credit: permutedCredit(seed, step, state) } : {}),
    probabilities: Object.fromEntries(
      Invariant.zip(values, probabilities, "probabilities").map(([{ id }, p]) => [id, p])
    ),
    learningRate: learningRate(algorithm, step)
  }
}

/** What each instruction is worth, where a group has samples of several: the level of advantages, known before samples are drawn. */
const levels = (algorithm: Algorithm, { values }: RunState.StepPlan): Levels | null =>
  sharesGroups(algorithm) ? Object.fromEntries(values.map(({ id, value }) => [id, value])) : null

/** Credits the groups of each instruction to another one: a control that must lose the gain of credit assignment. */
const permutedCredit = (
  seed: number,
  step: number,
  { population }: RunState.RunState
): Readonly<Record<string, Instruction.InstructionId>> => {
  const ids = Population.ids(population)
  const shuffled = RandomStream.make(seed, ["permuted-credit", step]).shuffle(ids)
  return Object.fromEntries(Invariant.zip(ids, shuffled, "instructions and credit"))
}

/** The learning-rate schedule covers the steps that train; 0 without any. */
const learningRate = (algorithm: Algorithm, step: number): number => {
  const span = Schedule.trained(algorithm)
  if (span === null) return 0
  const [first, last] = span
  const { learningRate: peak, optimizer } = algorithm.train
  return LearningRate.at({ ...optimizer, learningRate: peak }, step - first + 1, last - first + 1)
}

/** The missing cells of the final table: the trained policy first, since it is already loaded. */
const evaluate = (context: DecisionContext, state: RunState.RunState): Command => {
  const { instruction, unproven } = conclude(context, state)
  const seed = Invariant.at(state.instructions, 0, "instruction")
  const cells =
    context.algorithm.evaluation.questions === 0
      ? []
      : (["after", "before"] as const).flatMap((policy) =>
          (instruction.id === seed.id ? [seed] : [seed, instruction]).map((instruction) => ({ policy, instruction }))
        )
  const open = cells.find(
    ({ instruction, policy }) =>
      !state.evaluations.some((done) => done.policy === policy && done.instruction === instruction.id)
  )
  return open === undefined
    ? { _tag: "Record", event: { _tag: "RunFinished", best: instruction.id, unproven } }
    : {
        _tag: "Evaluate",
        ...open,
        checkpointStep: open.policy === "before" ? 0 : Selection.selected(context.algorithm, state).step
      }
}

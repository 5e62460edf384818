import { type Experience, Group, InvalidInput, Invariant, type Question } from "@inspo/domain"
import * as Evolution from "@inspo/evolution"
import type { Group as Observed } from "@inspo/evolution"
import { Population } from "@inspo/population"
import { Array as Arr, Effect, identity, Option, Schema } from "effect"
import * as Collapse from "./Collapse.ts"
import type { Algorithm } from "./Algorithm.ts"
import * as Degradation from "./Degradation.ts"
import { askedGroups, type Failed, type RunEvent } from "./RunEvent.ts"
import * as RunState from "./RunState.ts"
import * as Schedule from "./Schedule.ts"
import * as Strategies from "./Strategies.ts"
import * as Substitutes from "./Substitutes.ts"

/**
 * The input of a fold besides the events. Of the strategies it uses the statistics alone, so that another rule cannot change
 * earlier decisions; by default those that the algorithm names.
 */
export interface Folding {
  readonly algorithm: Algorithm
  readonly strategies?: Statistics
}

interface Statistics {
  readonly valuation: Pick<Strategies.Strategies["valuation"], "observe">
  readonly buffer: Pick<Strategies.Strategies["buffer"], "add">
}

/**
 * The state after an event; makes no decisions of its own. Pure; resuming a run folds its events. Throws
 * `UnexpectedEvent` or `UnknownName` on an event that cannot follow those before it.
 */
export const apply = (folding: Folding, state: RunState.RunState, event: RunEvent): RunState.RunState => {
  assertKnown(state, event)
  const { algorithm } = folding
  const after = applied(folding, state, event)
  const facts = Degradation.ofEvent(algorithm, event, after.step)
  return facts.length === 0 ? after : { ...after, degraded: Degradation.merge(after.degraded, facts) }
}

/** The state of a run after its events, oldest first. Throws as {@link apply} does. */
export const fold = (folding: Folding, events: Iterable<RunEvent>): RunState.RunState =>
  Arr.fromIterable(events).reduce((state, event) => apply(folding, state, event), RunState.unstarted)

/** {@link fold} of the events of a journal; fails if they are inconsistent. */
export const foldStored = Effect.fnUntraced(function* (folding: Folding, events: ReadonlyArray<RunEvent>) {
  let state = RunState.unstarted
  for (const [sequence, event] of events.entries())
    state = yield* Effect.try({ try: () => apply(folding, state, event), catch: identity }).pipe(
      Effect.catch((cause) =>
        isRefusal(cause)
          ? Effect.fail(new IncoherentJournal({ sequence, event: event._tag, cause }))
          : Effect.die(cause)
      )
    )
  return state
})

/** An event of a journal cannot follow those before it. */
export class IncoherentJournal extends Schema.TaggedError<IncoherentJournal>()("IncoherentJournal", {
  sequence: Schema.Int,
  event: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return (
      `journal: event ${this.sequence}, ${this.event}, does not follow from the events before it: ${reason}. ` +
      "Restore the journal from a backup, or continue with the version that wrote it"
    )
  }
}

/** Whether an error reports an invalid event; any other error is a bug. */
const isRefusal = (error: unknown): boolean =>
  [
    RunState.UnexpectedEvent,
    RunState.UnknownName,
    Evolution.UnexpectedEvent,
    InvalidInput.InvalidInput,
    Invariant.InvariantBroken
  ].some((known) => error instanceof known)

const applied = (folding: Folding, state: RunState.RunState, event: RunEvent): RunState.RunState => {
  const { algorithm } = folding
  switch (event._tag) {
    case "RunStarted":
      assertPhase(state, event, "Unstarted")
      return { ...state, strategies: event.strategies, phase: { _tag: "Initialise" } }
    case "PopulationInitialised":
      assertPhase(state, event, "Initialise")
      return {
        ...state,
        ...Evolution.begin(event.instructions),
        instructions: event.instructions,
        phase: { _tag: "Checkpoint", following: { _tag: "Plan" } }
      }
    case "CheckpointSaved":
      return saved(state, event)
    case "StepPlanned":
      return planned(state, event)
    case "RoundCollected": {
      const { further, plan, rounds = [] } = assertPhase(state, event, "Collect")
      return {
        ...state,
        phase: { _tag: "Extend", plan, rounds: [...rounds, { plan: further ?? plan, collected: event }] }
      }
    }
    case "RoundPlanned":
      return { ...state, phase: { ...assertPhase(state, event, "Extend"), _tag: "Collect", further: event } }
    case "RolloutsCollected":
      return collected(folding, state, event)
    case "TrainingPlanned": {
      const { miniBatches: _, step: __, ...update } = event
      const phase = assertPhase(state, event, "PlanTraining")
      const _tag = plansAhead(algorithm, state, phase.plan.step) ? "PlanAhead" : "Train"
      const rubrics = event.findings?.rubrics
      return {
        ...state,
        ...(rubrics === undefined ? {} : { rubrics: { ...state.rubrics, ...rubrics } }),
        phase: { ...phase, ...update, _tag }
      }
    }
    case "StepTrained":
      return trained(algorithm, state, event)
    case "Validated":
      return validated(algorithm, state, event)
    case "CandidatesProposed":
      return evolved(algorithm, state, { ...event, reflected: reflectedQuestions(state, event.failures) })
    case "CandidatesVerified":
      return {
        ...evolved(algorithm, state, event),
        spent: {
          rollouts: { ...state.spent.rollouts, verification: state.spent.rollouts.verification + event.rollouts },
          tokens: { ...state.spent.tokens, verification: state.spent.tokens.verification + event.tokens }
        },
        failed: fail(state.failed, "verification", event)
      }
    case "Pruned":
    case "ParentsChosen":
    case "VerificationBegun":
    case "CandidatesJudged":
    case "PopulationRefilled":
    case "EvolutionSkipped":
      return evolved(algorithm, state, event)
    case "Evaluated":
      assertPhase(state, event, "Evaluate")
      return {
        ...state,
        evaluations: [...state.evaluations, event],
        spent: spend(state.spent, "evaluation", event),
        failed: fail(state.failed, "evaluation", event)
      }
    case "RunFinished":
      assertPhase(state, event, "Evaluate")
      return { ...state, phase: { _tag: "Finished", best: event.best, unproven: event.unproven } }
  }
}

/** Whether the next step is planned before the update of this one, which then is all that comes between them. */
const plansAhead = (algorithm: Algorithm, state: RunState.RunState, step: number): boolean =>
  algorithm.train.staleness > 0 &&
  Schedule.trains(algorithm, step + 1) &&
  afterUpdate(algorithm, state, step).phase._tag === "Plan"

/** A step is planned when nothing else is left to do, or ahead, with the policy of now. */
const planned = (
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "StepPlanned" }>
): RunState.RunState => {
  if (event.policy === undefined) {
    assertPhase(state, event, "Plan")
    return { ...state, phase: { _tag: "Collect", plan: event } }
  }
  const phase = assertPhase(state, event, "PlanAhead")
  if (event.policy !== state.step || event.step !== phase.plan.step + 1)
    throw new RunState.UnexpectedEvent({ event: event._tag, phase: phase._tag })
  return { ...state, phase: { ...phase, _tag: "Train", ahead: event } }
}

const saved = (
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "CheckpointSaved" }>
): RunState.RunState => ({
  ...state,
  checkpoints: [
    ...state.checkpoints.filter(({ step }) => !event.removed.includes(step)),
    { step: event.step, checkpoint: event.checkpoint }
  ],
  phase: assertPhase(state, event, "Checkpoint").following
})

const validated = (
  algorithm: Algorithm,
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "Validated" }>
): RunState.RunState => {
  assertPhase(state, event, "Validate")
  return evolving(algorithm, {
    ...state,
    spent: spend(state.spent, "evaluation", event),
    failed: fail(state.failed, "evaluation", event),
    validations: [...state.validations, ...validation(event)]
  })
}

const assertKnown = (state: RunState.RunState, event: RunEvent): void => {
  const assertAll = (what: string, known: ReadonlyArray<string>, named: ReadonlyArray<string>) => {
    const [name] = Arr.difference(named, known)
    if (name !== undefined) throw new RunState.UnknownName({ event: event._tag, what, name })
  }
  const ever = state.instructions.map(({ id }) => id)
  const living = Population.ids(state.population)
  switch (event._tag) {
    case "StepPlanned":
    case "RoundPlanned":
      return assertAll("instruction", living, event.assignment)
    case "ParentsChosen":
      return assertAll("parent", living, event.parents)
    case "CandidatesProposed":
      return assertAll("parent", ever, [event.parent])
    case "Validated":
    case "Evaluated":
      return assertAll("instruction", ever, [event.instruction])
    case "RunFinished":
      return assertAll("instruction", ever, event.unproven === null ? [event.best] : [event.best, event.unproven])
    default:
      return
  }
}

/** The phase, if the event can happen in it. */
const assertPhase = <Tag extends RunState.Phase["_tag"]>(
  { phase }: RunState.RunState,
  event: { readonly _tag: string },
  ...tags: ReadonlyArray<Tag>
): Extract<RunState.Phase, { readonly _tag: Tag }> => {
  const isExpected = (some: RunState.Phase): some is Extract<RunState.Phase, { readonly _tag: Tag }> =>
    tags.some((tag) => tag === some._tag)
  if (!isExpected(phase)) throw new RunState.UnexpectedEvent({ event: event._tag, phase: phase._tag })
  return phase
}

const collected = (
  { algorithm, strategies = Strategies.ofAlgorithm(algorithm) }: Folding,
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "RolloutsCollected" }>
): RunState.RunState => {
  const { plan } = assertPhase(state, event, "Collect", "Extend")
  const { failed, groups, rescues, step } = event
  const observed = Evolution.observe(strategies.valuation, state, step, credited(plan, groups.map(groupOf)))
  return {
    ...observed,
    evidence: evidenceOf(state, observed.population, step),
    previousValues: plan.values,
    buffer: strategies.buffer.add(state.buffer, step, experiences(step, groups)),
    rewardTrend:
      groups.length === 0 ? state.rewardTrend : Collapse.observe(state.rewardTrend, { step, mean: meanReward(groups) }),
    spent: spend(state.spent, "train", {
      groups: askedGroups(event),
      ...(failed === undefined ? {} : { failed })
    }),
    failed: fail(state.failed, "train", event),
    phase: { _tag: "PlanTraining", plan, groups, ...(rescues === undefined ? {} : { rescues }) }
  }
}

/** Whether the best member is better than the seed within questions; what was known before if the seed has left. */
const evidenceOf = (
  { evidence, instructions }: RunState.RunState,
  population: Population.Contents,
  step: number
): RunState.Evidence | null => {
  const seed = Invariant.at(instructions, 0, "instruction").id
  const best = Population.incumbent(population)?.instruction.id
  if (best === undefined || Option.isNone(Population.find(population, seed))) return evidence
  const shown = Evolution.Conclude.interval(population, best, seed)
  return (
    shown && { step, instruction: best, rival: seed, difference: shown.mean, lower: shown.lower, upper: shown.upper }
  )
}

const groupOf = ({ dataSource, instructionId, questionId, rewards }: Group.Group): Observed => ({
  instruction: instructionId,
  question: questionId,
  stratum: dataSource,
  rewards,
  missing: 0
})

const credited = ({ credit }: RunState.StepPlan, groups: ReadonlyArray<Observed>): ReadonlyArray<Observed> => {
  if (credit === undefined) return groups
  const creditTo = new Map(Object.entries(credit))
  return groups.map((group) => ({ ...group, instruction: creditTo.get(group.instruction) ?? group.instruction }))
}

/** The experiences that the replay buffer stores for the groups of a step. */
export const experiences = (step: number, groups: ReadonlyArray<Group.Group>): ReadonlyArray<Experience.Experience> =>
  groups.flatMap(({ dataSource, instructionId, questionId, rewards, trajectories }) =>
    Arr.zipWith(trajectories, rewards, (trajectoryId, reward) => ({
      trajectoryId,
      instructionId,
      questionId,
      dataSource,
      step,
      reward
    }))
  )

const trained = (
  algorithm: Algorithm,
  before: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "StepTrained" }>
): RunState.RunState => {
  const phase = assertPhase(before, event, Schedule.trains(algorithm, event.step) ? "Train" : "PlanTraining")
  // Not before, so that a step trains no success of its own as an earlier one.
  const successes = Substitutes.remember(algorithm, before.successes, phase.groups)
  const after = afterUpdate(algorithm, { ...before, successes }, event.step)
  return "ahead" in phase && phase.ahead !== undefined
    ? { ...after, phase: { _tag: "Collect", plan: phase.ahead } }
    : after
}

/** The state after the policy update of a step, without a plan ahead. */
export const afterUpdate = (algorithm: Algorithm, before: RunState.RunState, step: number): RunState.RunState => {
  const state = { ...before, step }
  return Schedule.validates(algorithm, state.step)
    ? { ...state, phase: { _tag: "Validate" } }
    : evolving(algorithm, state)
}

const evolving = (algorithm: Algorithm, state: RunState.RunState): RunState.RunState =>
  following(algorithm, Evolution.endUnit(Schedule.ofEvolution(algorithm), state))

const evolved = (
  algorithm: Algorithm,
  state: RunState.RunState,
  event: Evolution.EvolutionEvent
): RunState.RunState => {
  assertPhase(state, event, "Evolve")
  if (!Evolution.isPending(state, event))
    throw new RunState.UnexpectedEvent({ event: event._tag, phase: Evolution.pending(state) })
  const decided = Evolution.apply(Schedule.ofEvolution(algorithm), state, event)
  const after = { ...decided, successes: Substitutes.living(state.successes, Population.ids(decided.population)) }
  switch (event._tag) {
    case "Pruned":
      return following(algorithm, { ...after, removed: [...state.removed, ...event.pruned.map(valueOf)] })
    case "PopulationRefilled":
      return following(algorithm, {
        ...after,
        removed: [...state.removed, ...event.replaced.map(valueOf)],
        instructions: [...state.instructions, ...event.accepted.map(({ instruction }) => instruction)]
      })
    default:
      return following(algorithm, after)
  }
}

/** Evolution continues until nothing is due. */
const following = (algorithm: Algorithm, state: RunState.RunState): RunState.RunState => {
  const rested = Evolution.rest(state)
  return Evolution.pending(rested) === "Nothing"
    ? afterEvolution(algorithm, rested)
    : { ...rested, phase: { _tag: "Evolve" } }
}

/** The questions that candidates were written from; their scores there do not predict those on other questions. */
const reflectedQuestions = (
  { buffer }: RunState.RunState,
  failures: ReadonlyArray<string>
): ReadonlyArray<Question.QuestionId> => {
  const reflected = new Set(failures)
  return buffer.experiences
    .filter(({ trajectoryId }) => reflected.has(trajectoryId))
    .map(({ questionId }) => questionId)
}

const valueOf = ({ id, value }: Population.Value): Population.Value => ({ id, value })

const afterEvolution = (algorithm: Algorithm, state: RunState.RunState): RunState.RunState => {
  const following: RunState.Phase = { _tag: state.step >= algorithm.schedule.steps ? "Evaluate" : "Plan" }
  return {
    ...state,
    phase: Schedule.checkpoints(algorithm, state.step) ? { _tag: "Checkpoint", following } : following
  }
}

/** The result of a validation; empty if every trajectory failed. */
const validation = ({
  groups,
  instruction,
  step
}: Extract<RunEvent, { readonly _tag: "Validated" }>): ReadonlyArray<RunState.Validation> =>
  groups.length === 0 ? [] : [{ step, instruction, mean: meanReward(groups), questions: groups.length }]

/** Mean over all trajectories of the groups, of which there is at least one. */
const meanReward = (groups: ReadonlyArray<Group.Group>): number => {
  const rewards = groups.flatMap((group) => group.rewards)
  return rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length
}

const spend = (
  spent: RunState.Spent,
  purpose: keyof RunState.Spent["rollouts"],
  { failed, groups }: Pick<Extract<RunEvent, { readonly _tag: "RolloutsCollected" }>, "groups" | "failed">
): RunState.Spent => ({
  rollouts: {
    ...spent.rollouts,
    [purpose]: groups.reduce(
      (total, group) => total + group.rewards.length,
      spent.rollouts[purpose] + (failed?.trajectories.length ?? 0)
    )
  },
  tokens: {
    ...spent.tokens,
    [purpose]: groups.reduce(
      (total, group) => total + Group.tokens(group),
      spent.tokens[purpose] + (failed?.tokens ?? 0)
    )
  }
})

const fail = (
  failed: RunState.Spent["rollouts"],
  purpose: keyof RunState.Spent["rollouts"],
  event: { readonly failed?: typeof Failed.Type }
): RunState.Spent["rollouts"] => ({
  ...failed,
  [purpose]: failed[purpose] + (event.failed?.trajectories.length ?? 0)
})

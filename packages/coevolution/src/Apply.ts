import { type Experience, Group, InvalidInput, Invariant } from "@inspo/domain"
import { InstructionWeight, Population } from "@inspo/population"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Round } from "@inspo/verification"
import { Array as Arr, Effect, identity, Schema } from "effect"
import * as Collapse from "./Collapse.ts"
import type { Algorithm } from "./Algorithm.ts"
import * as Degradation from "./Degradation.ts"
import type { Failed, RunEvent } from "./RunEvent.ts"
import * as RunState from "./RunState.ts"
import * as Schedule from "./Schedule.ts"
import * as Weighing from "./Weighing.ts"

/** What a fold needs to know of a run: facts alone, and no strategy, so that another rule cannot rewrite what was decided. */
export interface Folding {
  readonly algorithm: Algorithm
}

/**
 * The state after an event: copies what was decided. Pure; resuming a run is the fold of its events. Throws
 * `UnexpectedEvent` or `UnknownName` on an event that cannot follow those before it.
 */
export const apply = ({ algorithm }: Folding, state: RunState.RunState, event: RunEvent): RunState.RunState => {
  assertKnown(state, event)
  const after = applied(algorithm, state, event)
  const facts = Degradation.ofEvent(algorithm, event, after.step)
  return facts.length === 0 ? after : { ...after, degraded: Degradation.merge(after.degraded, facts) }
}

/** The state of a run whose events are given, oldest first. Throws as {@link apply} does. */
export const fold = (folding: Folding, events: Iterable<RunEvent>): RunState.RunState =>
  Arr.fromIterable(events).reduce((state, event) => apply(folding, state, event), RunState.unstarted)

/** {@link fold} of events that a journal holds; fails where they are not of one piece. */
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
      `journal: event ${this.sequence}, ${this.event}, does not follow from those before it: ${reason}. ` +
      "Restore the journal from a copy, or go on with the version that wrote it"
    )
  }
}

/** Whether an error says what is wrong with an event; any other is a fault of the program. */
const isRefusal = (error: unknown): boolean =>
  [RunState.UnexpectedEvent, RunState.UnknownName, InvalidInput.InvalidInput, Invariant.InvariantBroken].some(
    (known) => error instanceof known
  )

const applied = (algorithm: Algorithm, state: RunState.RunState, event: RunEvent): RunState.RunState => {
  switch (event._tag) {
    case "RunStarted":
      assertPhase(state, event, "Unstarted")
      return { ...state, strategies: event.strategies, phase: { _tag: "Initialise" } }
    case "PopulationInitialised":
      assertPhase(state, event, "Initialise")
      return {
        ...state,
        instructions: event.instructions,
        population: Population.make(event.instructions),
        newcomers: event.instructions.map(({ id }) => id),
        phase: { _tag: "Checkpoint", following: { _tag: "Plan" } }
      }
    case "CheckpointSaved":
      return saved(state, event)
    case "StepPlanned":
      assertPhase(state, event, "Plan")
      return { ...state, phase: { _tag: "Collect", plan: event } }
    case "RolloutsCollected":
      return collected(algorithm, state, event)
    case "TrainingPlanned":
      return {
        ...state,
        phase: { ...assertPhase(state, event, "PlanTraining"), _tag: "Train", batchHash: event.batchHash }
      }
    case "StepTrained":
      return trained(algorithm, state, event)
    case "Validated":
      return validated(algorithm, state, event)
    case "Pruned":
      assertPhase(state, event, "Prune")
      return afterPruning(algorithm, leave(state, event.pruned))
    case "ParentsChosen":
      assertPhase(state, event, "ChooseParents")
      return {
        ...state,
        phase: { _tag: "Propose", evolution: { step: event.step, round: 1, parents: event.parents, verified: [] } }
      }
    case "CandidatesProposed":
      return proposed(algorithm, state, event)
    case "CandidatesVerified":
      return verified(state, event)
    case "VerificationContinued":
      return continued(algorithm, state, event)
    case "CandidatesJudged":
      return judged(state, event)
    case "PopulationRefilled":
      return refilled(algorithm, state, event)
    case "EvolutionSkipped":
      assertPhase(state, event, "Propose")
      return afterEvolution(algorithm, state)
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

const saved = (
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "CheckpointSaved" }>
): RunState.RunState => ({
  ...state,
  checkpoints: [
    ...state.checkpoints,
    { step: event.step, checkpoint: event.checkpoint }
    // A branch of a run names itself here where the run had removed it by then.
  ].filter(({ step }) => !event.removed.includes(step)),
  phase: assertPhase(state, event, "Checkpoint").following
})

const validated = (
  algorithm: Algorithm,
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "Validated" }>
): RunState.RunState =>
  afterValidation(
    algorithm,
    {
      ...state,
      spent: spend(state.spent, "evaluation", event),
      failed: fail(state.failed, "evaluation", event),
      validations: [...state.validations, ...validation(event)]
    },
    assertPhase(state, event, "Validate").score
  )

/** Refuses an event that names an instruction which cannot be meant. */
const assertKnown = (state: RunState.RunState, event: RunEvent): void => {
  const assertAll = (what: string, known: ReadonlyArray<string>, named: ReadonlyArray<string>) => {
    const [name] = Arr.difference(named, known)
    if (name !== undefined) throw new RunState.UnknownName({ event: event._tag, what, name })
  }
  const ever = state.instructions.map(({ id }) => id)
  const living = Population.ids(state.population)
  const verifying = state.inSteps === null ? [] : RunState.candidateInstructions(state.inSteps).map(({ id }) => id)
  switch (event._tag) {
    case "StepPlanned":
      return assertAll("instruction", [...living, ...verifying], event.assignment)
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

/** The phase, if it is one in which the event can happen. */
const assertPhase = <Tag extends RunState.Phase["_tag"]>(
  { phase }: RunState.RunState,
  event: RunEvent,
  ...tags: ReadonlyArray<Tag>
): Extract<RunState.Phase, { readonly _tag: Tag }> => {
  const isExpected = (some: RunState.Phase): some is Extract<RunState.Phase, { readonly _tag: Tag }> =>
    tags.some((tag) => tag === some._tag)
  if (!isExpected(phase)) throw new RunState.UnexpectedEvent({ event: event._tag, phase: phase._tag })
  return phase
}

const collected = (
  algorithm: Algorithm,
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "RolloutsCollected" }>
): RunState.RunState => {
  const { plan } = assertPhase(state, event, "Collect")
  const { groups, step } = event
  return {
    ...state,
    previousWeights: plan.weights,
    population: InstructionWeight.observe(
      Weighing.choices(algorithm),
      state.population,
      step,
      credited(state, plan, groups)
    ),
    newcomers: [],
    buffer: ReplayBuffer.add(algorithm.buffer, state.buffer, step, experiences(step, groups)),
    course: groups.length === 0 ? state.course : Collapse.observe(state.course, { step, mean: meanReward(groups) }),
    spent: spend(state.spent, "train", event),
    failed: fail(state.failed, "train", event),
    phase: { _tag: "PlanTraining", plan, groups }
  }
}

/** The groups of the living, under the names of those who are credited with them. */
const credited = (
  { inSteps }: RunState.RunState,
  { credit }: RunState.StepPlan,
  groups: ReadonlyArray<Group.Group>
): ReadonlyArray<Group.Group> => {
  const candidates = new Set(inSteps === null ? [] : RunState.candidateInstructions(inSteps).map(({ id }) => id))
  const own = groups.filter(({ instructionId }) => !candidates.has(instructionId))
  if (credit === undefined) return own
  const creditTo = new Map(Object.entries(credit))
  return own.map((group) => ({
    ...group,
    instructionId: Invariant.get(creditTo, group.instructionId, "the credit")
  }))
}

/** What the groups of a step are remembered as. */
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
  const { groups, plan } = assertPhase(before, event, Schedule.trains(algorithm, event.step) ? "Train" : "PlanTraining")
  const state = { ...before, step: event.step }
  const score = state.inSteps === null ? null : { plan, groups }
  return Schedule.validates(algorithm, state.step)
    ? { ...state, phase: { _tag: "Validate", score } }
    : afterValidation(algorithm, state, score)
}

/** While candidates are verified in steps, no instruction is pruned and nothing else evolves. */
const afterValidation = (
  algorithm: Algorithm,
  state: RunState.RunState,
  score: RunState.Collected | null
): RunState.RunState =>
  score === null || state.inSteps === null
    ? beforePruning(algorithm, state)
    : { ...state, phase: { _tag: "Score", verifying: state.inSteps, ...score } }

const beforePruning = (algorithm: Algorithm, state: RunState.RunState): RunState.RunState =>
  Schedule.prunes(algorithm, state.step) && state.population.members.length > algorithm.population.parents
    ? { ...state, phase: { _tag: "Prune" } }
    : afterPruning(algorithm, state)

const afterPruning = (algorithm: Algorithm, state: RunState.RunState): RunState.RunState =>
  Schedule.evolves(algorithm, state.step)
    ? { ...state, phase: { _tag: "ChooseParents" } }
    : afterEvolution(algorithm, state)

const proposed = (
  algorithm: Algorithm,
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "CandidatesProposed" }>
): RunState.RunState => {
  const { evolution } = assertPhase(state, event, "Propose")
  const { candidates, failures, parent } = event
  const verifying: RunState.Verifying = {
    evolution,
    parent,
    candidates,
    reflected: reflectedQuestions(state, failures),
    round: Round.begin(candidates.length)
  }
  if (candidates.length === 0 || algorithm.verification.samples === 0)
    return { ...state, phase: { _tag: "Judge", ...verifying } }
  return Schedule.reuses(algorithm)
    ? afterEvolution(algorithm, { ...state, inSteps: verifying })
    : { ...state, phase: { _tag: "Verify", ...verifying } }
}

/** The questions that candidates were written from, which says nothing about how they do on others. */
const reflectedQuestions = (
  { buffer }: RunState.RunState,
  failures: ReadonlyArray<string>
): RunState.Verifying["reflected"] => {
  const reflected = new Set(failures)
  return buffer.experiences
    .filter(({ trajectoryId }) => reflected.has(trajectoryId))
    .map(({ questionId }) => questionId)
}

const verified = (
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "CandidatesVerified" }>
): RunState.RunState => {
  const phase = assertPhase(state, event, "Verify", "Score")
  const verifying = phase._tag === "Verify" ? phase : phase.verifying
  return {
    ...state,
    spent: {
      rollouts: { ...state.spent.rollouts, verification: state.spent.rollouts.verification + event.rollouts },
      tokens: { ...state.spent.tokens, verification: state.spent.tokens.verification + event.tokens }
    },
    failed: fail(state.failed, "verification", event),
    phase: { ...verifying, _tag: "Judge", round: Round.record(verifying.round, event) }
  }
}

const continued = (
  algorithm: Algorithm,
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "VerificationContinued" }>
): RunState.RunState => {
  const { _tag, ...judged } = assertPhase(state, event, "Judge")
  const verifying = { ...judged, round: Round.proceed(judged.round, event.remaining) }
  return state.inSteps === null
    ? { ...state, phase: { _tag: "Verify", ...verifying } }
    : afterEvolution(algorithm, { ...state, inSteps: verifying })
}

const judged = (
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "CandidatesJudged" }>
): RunState.RunState => {
  const { candidates, evolution: before, parent } = assertPhase(state, event, "Judge")
  const verdicts = Invariant.zip(candidates, event.verdicts, "candidates and verdicts")
  const evolution = {
    ...before,
    verified: [...before.verified, ...verdicts.map(([candidate, verdict]) => ({ ...verdict, candidate, parent }))]
  }
  return {
    ...state,
    inSteps: null,
    phase: event.again
      ? { _tag: "Propose", evolution: { ...evolution, round: evolution.round + 1 } }
      : { _tag: "Refill", evolution }
  }
}

const refilled = (
  algorithm: Algorithm,
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "PopulationRefilled" }>
): RunState.RunState => {
  const { evolution } = assertPhase(state, event, "Propose", "Refill")
  const newcomers = event.accepted.map(({ instruction }) => instruction)
  const remaining = leave(state, event.replaced)
  const population = Population.add(
    Population.resetWindows(remaining.population),
    event.accepted.map((accepted) => ({
      instruction: accepted.instruction,
      verification: verificationOf(evolution, accepted)
    }))
  )
  return afterEvolution(algorithm, {
    ...remaining,
    population,
    instructions: [...state.instructions, ...newcomers],
    newcomers: newcomers.map(({ id }) => id)
  })
}

/** Instructions leave the population; their weights and what is known of them stay. */
const leave = (state: RunState.RunState, leaving: ReadonlyArray<Population.Weight>): RunState.RunState => {
  const members = new Map(state.population.members.map((member) => [member.instruction.id, member]))
  return {
    ...state,
    departed: [
      ...state.departed,
      ...leaving.map(({ id, weight }) => ({
        id,
        weight,
        ...RunState.recordOf(Invariant.get(members, id, "the living instruction"))
      }))
    ],
    population: Population.remove(
      state.population,
      leaving.map(({ id }) => id)
    )
  }
}

/** How an instruction that enters was verified; null where no question was asked. */
const verificationOf = (
  { verified }: RunState.Evolution,
  { instruction, mean, questions }: Extract<RunEvent, { readonly _tag: "PopulationRefilled" }>["accepted"][number]
): Population.Verification | null => {
  if (questions === 0) return null
  const verdict = verified.find(({ candidate, ...own }) => candidate.text === instruction.text && own.mean === mean)
  if (verdict === undefined) throw new Invariant.InvariantBroken({ missing: `the verdict on ${instruction.id}` })
  const { parent, parentMean } = verdict
  return { mean, groups: questions, rival: parentMean === null ? null : { id: parent, mean: parentMean } }
}

const afterEvolution = (algorithm: Algorithm, state: RunState.RunState): RunState.RunState => {
  const following: RunState.Phase = { _tag: state.step >= algorithm.schedule.steps ? "Evaluate" : "Plan" }
  return {
    ...state,
    phase: Schedule.checkpoints(algorithm, state.step) ? { _tag: "Checkpoint", following } : following
  }
}

/** What a validation found; nothing when every trajectory failed. */
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

/** Books what was rolled out, failed or not. */
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

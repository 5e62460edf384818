import { Group, type Instruction, RandomStream } from "@inspo/domain"
import { Population } from "@inspo/population"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Array as Arr, Option, Random } from "effect"
import { parents, type Setting } from "./Next.ts"
import type { RunEvent } from "./RunEvent.ts"
import * as RunState from "./RunState.ts"

/** The state after an event. Pure; resuming a run is the fold of its events. */
export const apply = (setting: Setting, state: RunState.RunState, event: RunEvent): RunState.RunState => {
  switch (event._tag) {
    case "RunStarted":
      return { ...state, phase: { _tag: "Initialise" } }
    case "PopulationInitialised":
      return {
        ...state,
        instructions: event.instructions,
        population: Population.make(event.instructions),
        owed: event.instructions.map(({ id }) => id),
        phase: { _tag: "Checkpoint", following: { _tag: "Plan" } }
      }
    case "CheckpointSaved":
      return {
        ...state,
        checkpoints: [
          ...Arr.difference(state.checkpoints, RunState.staleCheckpoints(state, setting.config.checkpoint.keep)),
          { step: event.step, checkpoint: event.checkpoint }
        ],
        phase: state.phase._tag === "Checkpoint" ? state.phase.following : state.phase
      }
    case "StepPlanned":
      return { ...state, phase: { _tag: "Collect", plan: event } }
    case "RolloutsCollected":
      return collected(setting, state, event.step, event.groups)
    case "TrainingPlanned":
      return state.phase._tag === "PlanTraining"
        ? { ...state, phase: { ...state.phase, _tag: "Train", batchHash: event.batchHash } }
        : state
    case "StepTrained":
      return afterTraining(setting, { ...state, step: event.step })
    case "Pruned":
      return afterPruning(setting, {
        ...state,
        population: Population.remove(
          state.population,
          event.pruned.map(({ id }) => id)
        )
      })
    case "CandidatesProposed":
      return proposed(setting, state, event)
    case "CandidatesVerified":
      return verified(setting, state, event)
    case "PopulationRefilled":
      return refilled(setting, state, event)
    case "EvolutionSkipped":
      return afterEvolution(setting, state)
    case "Evaluated": {
      const evaluations = [...state.evaluations, event]
      return { ...state, evaluations, spent: spend(state.spent, "evaluation", event.groups) }
    }
    case "RunFinished":
      return { ...state, phase: { _tag: "Finished", best: event.best } }
  }
}

/** The state of a run whose events are given, oldest first. */
export const fold = (setting: Setting, events: Iterable<RunEvent>): RunState.RunState =>
  Arr.fromIterable(events).reduce((state, event) => apply(setting, state, event), RunState.unstarted)

const collected = (
  { config, policies }: Setting,
  state: RunState.RunState,
  step: number,
  groups: ReadonlyArray<Group.Group>
): RunState.RunState => {
  if (state.phase._tag !== "Collect") return state
  const credited = config.control.permuteCredit ? permuteCredit(config.seed, step, state, groups) : groups
  return {
    ...state,
    previousWeights: policies.weighting.weights(state.population),
    population: policies.weighting.observe(state.population, step, credited),
    owed: [],
    buffer: policies.buffer.add(
      state.buffer,
      step,
      groups.flatMap((group) =>
        group.trajectories.map((trajectoryId, i) => ({
          trajectoryId,
          instructionId: group.instructionId,
          questionId: group.questionId,
          dataSource: group.dataSource,
          step,
          reward: group.rewards[i] ?? 0
        }))
      )
    ),
    spent: spend(state.spent, "train", groups),
    phase: { _tag: "PlanTraining", plan: state.phase.plan, groups }
  }
}

/** Credits each instruction's groups to another living one: a control that must lose what credit assignment gains. */
const permuteCredit = (
  seed: number,
  step: number,
  state: RunState.RunState,
  groups: ReadonlyArray<Group.Group>
): ReadonlyArray<Group.Group> => {
  const ids = Population.ids(state.population)
  const shuffled = RandomStream.drawSync(seed, ["permuted-credit", step], Random.shuffle(ids))
  const creditTo = new Map(Arr.zip(ids, shuffled))
  return groups.map((group) => ({ ...group, instructionId: creditTo.get(group.instructionId) ?? group.instructionId }))
}

const divides = (period: number, step: number): boolean => period > 0 && step % period === 0

const afterTraining = (setting: Setting, state: RunState.RunState): RunState.RunState =>
  divides(setting.config.schedule.pruneEvery, state.step) &&
  state.population.members.length > setting.config.population.parents
    ? { ...state, phase: { _tag: "Prune" } }
    : afterPruning(setting, state)

const afterPruning = (setting: Setting, state: RunState.RunState): RunState.RunState => {
  const { population, schedule } = setting.config
  const last = schedule.evolveUntilInclusive ? schedule.evolveUntil : schedule.evolveUntil - 1
  return divides(schedule.evolveEvery, state.step) && state.step <= last && population.size > population.parents
    ? {
        ...state,
        phase: {
          _tag: "Propose",
          evolution: { step: state.step, round: 1, parents: parents(setting, state), verified: [] }
        }
      }
    : afterEvolution(setting, state)
}

const proposed = (
  setting: Setting,
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "CandidatesProposed" }>
): RunState.RunState => {
  if (state.phase._tag !== "Propose") return state
  const { evolution } = state.phase
  return event.candidates.length === 0
    ? afterRound(setting, state, evolution)
    : {
        ...state,
        phase: {
          _tag: "Verify",
          evolution,
          parent: event.parent,
          candidates: event.candidates,
          failures: event.failures
        }
      }
}

const verified = (
  setting: Setting,
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "CandidatesVerified" }>
): RunState.RunState => {
  if (state.phase._tag !== "Verify") return state
  const { candidates, evolution, parent } = state.phase
  const { config, policies } = setting
  const scores = config.control.permuteCredit
    ? RandomStream.drawSync(
        config.seed,
        ["permuted-verification", event.step, event.round],
        Random.shuffle(event.candidates)
      )
    : event.candidates
  const verdicts = policies.verification.judge({
    candidates: scores,
    parent: event.parent,
    storedParentMean: Option.getOrNull(ReplayBuffer.storedMean(state.buffer, parent, event.questions))
  })
  return afterRound(
    setting,
    {
      ...state,
      spent: {
        rollouts: { ...state.spent.rollouts, verification: state.spent.rollouts.verification + event.rollouts },
        tokens: { ...state.spent.tokens, verification: state.spent.tokens.verification + event.tokens }
      }
    },
    {
      ...evolution,
      verified: [
        ...evolution.verified,
        ...Arr.zip(candidates, verdicts).map(([candidate, verdict]) => ({ ...verdict, candidate, parent }))
      ]
    }
  )
}

const afterRound = (
  { config, policies }: Setting,
  state: RunState.RunState,
  evolution: RunState.Evolution
): RunState.RunState => {
  const again = policies.verification.needsRound({
    round: evolution.round,
    places: config.population.size - evolution.parents.length,
    verified: evolution.verified
  })
  return {
    ...state,
    phase: again
      ? { _tag: "Propose", evolution: { ...evolution, round: evolution.round + 1 } }
      : { _tag: "Refill", evolution }
  }
}

const refilled = (
  setting: Setting,
  state: RunState.RunState,
  event: Extract<RunEvent, { readonly _tag: "PopulationRefilled" }>
): RunState.RunState => {
  const newcomers = event.accepted.map(({ instruction }) => instruction)
  const kept = new Set<Instruction.InstructionId>(event.parents)
  const population = Population.add(
    Population.resetWindows(
      Population.remove(
        state.population,
        Population.ids(state.population).filter((id) => !kept.has(id))
      )
    ),
    event.accepted.map(({ instruction, mean, questions }) => ({
      instruction,
      verification: { mean, groups: questions }
    }))
  )
  return afterEvolution(setting, {
    ...state,
    population,
    instructions: [...state.instructions, ...newcomers],
    owed: newcomers.map(({ id }) => id)
  })
}

const afterEvolution = ({ config }: Setting, state: RunState.RunState): RunState.RunState => {
  const over = state.step >= config.schedule.steps
  const following: RunState.Phase = over ? { _tag: "Evaluate" } : { _tag: "Plan" }
  return {
    ...state,
    phase: over || divides(config.checkpoint.every, state.step) ? { _tag: "Checkpoint", following } : following
  }
}

const spend = (
  spent: RunState.Spent,
  purpose: keyof RunState.Spent["rollouts"],
  groups: ReadonlyArray<Group.Group>
): RunState.Spent => ({
  rollouts: {
    ...spent.rollouts,
    [purpose]: groups.reduce((total, group) => total + group.rewards.length, spent.rollouts[purpose])
  },
  tokens: {
    ...spent.tokens,
    [purpose]: groups.reduce((total, group) => total + Group.tokens(group), spent.tokens[purpose])
  }
})

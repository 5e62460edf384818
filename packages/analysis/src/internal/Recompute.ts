import { Group, Instruction, Invariant } from "@inspo/domain"
import { Population } from "@inspo/population"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Option } from "effect"
import { sumAll } from "effect/Number"
import {
  type Algorithm,
  Conclusion,
  type DecisionContext,
  experiences,
  type RunEvent,
  RunState,
  type Strategies
} from "@inspo/coevolution"
import { begun, type Environment, type Move, play } from "../DryRun.ts"
import { effectiveGroups, kish, minimumGroups } from "./EffectiveGroups.ts"

type Ids = ReadonlyArray<Instruction.InstructionId>
type Event<Tag extends RunEvent["_tag"]> = Extract<RunEvent, { readonly _tag: Tag }>

type Probabilities = ReadonlyMap<number, Event<"StepPlanned">["probabilities"]>

/** An index of a log, mostly by step: everything that other settings do not change. */
export interface Log {
  readonly initial: Event<"PopulationInitialised">
  readonly plans: ReadonlyMap<number, Event<"StepPlanned">>
  readonly rewards: ReadonlyMap<number, Event<"RolloutsCollected">>
  readonly validations: ReadonlyMap<number, Event<"Validated">>
  /** By `step.round`. */
  readonly proposals: ReadonlyMap<string, Event<"CandidatesProposed">>
  readonly verifications: ReadonlyMap<string, Event<"CandidatesVerified">>
  readonly refills: ReadonlyMap<number, Event<"PopulationRefilled">>
  /** Groups of each instruction at a step, and the sum of their mean rewards. */
  readonly sums: ReadonlyMap<
    number,
    ReadonlyArray<{ readonly id: string; readonly count: number; readonly rewards: number }>
  >
  /** Steps at which an evolution was due, skipped ones included. */
  readonly evolutions: ReadonlySet<number>
  /** The replay buffer at each evolution that was not skipped. */
  readonly buffers: ReadonlyMap<number, ReplayBuffer.Contents>
}

/** A decision under some settings. */
export interface Decided {
  readonly step: number
  /** The pruned, the parents, the newcomers, or the returned instruction. */
  readonly kind: "prune" | "parents" | "refill" | "best"
  readonly ids: Ids
  /** Whether an instruction or a candidate was rejected, so that the evidence mattered. */
  readonly selective: boolean
  /** Effective groups behind each instruction or candidate that was compared. */
  readonly evidence: ReadonlyArray<Evidence>
}

export interface Evidence {
  readonly name: string
  readonly groups: number
}

export interface Trace {
  readonly decisions: ReadonlyArray<Decided>
  readonly best: Instruction.InstructionId
  /** The probability of each instruction, by step. */
  readonly probabilities: Probabilities
  /** Mean training reward over all steps, or null if the log has too few rewards. */
  readonly reward: number | null
}

/** Indexes the events of a finished run; folds them once for the contents of its replay buffer. */
export const index = (
  algorithm: Algorithm,
  initial: Event<"PopulationInitialised">,
  events: ReadonlyArray<RunEvent>
): Log => {
  const of = <Tag extends RunEvent["_tag"]>(tag: Tag) =>
    events.filter((event): event is Event<Tag> => event._tag === tag)
  const byStep = <E extends { readonly step: number }>(own: ReadonlyArray<E>) =>
    new Map(own.map((event) => [event.step, event]))
  const byRound = <E extends { readonly step: number; readonly round: number }>(own: ReadonlyArray<E>) =>
    new Map(own.map((event) => [`${event.step}.${event.round}`, event]))
  return {
    initial,
    plans: byStep(of("StepPlanned")),
    rewards: byStep(of("RolloutsCollected").map(withoutTrajectories)),
    validations: byStep(of("Validated")),
    proposals: byRound(of("CandidatesProposed")),
    verifications: byRound(of("CandidatesVerified")),
    refills: byStep(of("PopulationRefilled")),
    sums: new Map(of("RolloutsCollected").map(({ groups, step }) => [step, sums(groups)])),
    evolutions: new Set([...of("EvolutionSkipped"), ...of("PopulationRefilled")].map(({ step }) => step)),
    buffers: buffers(algorithm, events)
  }
}

/** Folds the log's rewards under other settings; policy, rollouts and candidates stay those of the log. */
export const recompute = (log: Log, deciding: Strategies.Deciding): Trace => {
  const { algorithm } = deciding
  const context = refolding(deciding)
  const decisions: Array<Decided> = []
  const probabilities = new Map<number, Event<"StepPlanned">["probabilities"]>()
  let beforeRewards = RunState.unstarted
  const evidenceOf = (state: RunState.RunState): ReadonlyArray<Evidence> => {
    const ranked = algorithm.selection.ranking === "before" && state.phase._tag !== "Evaluate" ? beforeRewards : state
    return Population.ids(state.population).map((id) => ({
      name: id,
      groups: effectiveGroups(observed(log, algorithm, ranked, id), (step) => ratio(log, probabilities, step, id))
    }))
  }
  // The buffer of the log at this evolution; empty without one.
  const remembering = (state: RunState.RunState): RunState.RunState =>
    state.phase._tag === "PlanTraining"
      ? { ...state, buffer: log.buffers.get(state.phase.plan.step) ?? ReplayBuffer.empty }
      : state

  let last = begun(context)
  for (const move of play(context, last, environment(log), isEvaluating, remembering)) {
    last = move.after
    if (move.event._tag === "StepPlanned") probabilities.set(move.event.step, move.event.probabilities)
    if (move.command._tag === "Collect") beforeRewards = move.before
    decisions.push(...decided(log, move, evidenceOf))
  }
  const best = Conclusion.conclude(context, last).instruction.id
  decisions.push({
    step: last.step,
    kind: "best",
    ids: [best],
    selective: last.population.members.length > 1,
    evidence: evidenceOf(last)
  })
  return { decisions, best, probabilities, reward: reward(log, probabilities) }
}

/** The strategies of other settings, with the questions and candidates of a log. */
const refolding = ({ algorithm, strategies }: Strategies.Deciding): DecisionContext => ({
  algorithm,
  strategies: {
    ...strategies,
    sampler: { ...strategies.sampler, assign: () => [] },
    buffer: {
      ...strategies.buffer,
      // Skipped evolutions stay skipped, the others have the same candidates.
      failures: ({ experiences }) => experiences.slice(0, 1),
      verificationQuestions: () => []
    }
  },
  questions: []
})

/** The decision of a move on the population, if any. */
const decided = (
  log: Log,
  { before, event }: Move,
  evidenceOf: (state: RunState.RunState) => ReadonlyArray<Evidence>
): ReadonlyArray<Decided> => {
  switch (event._tag) {
    case "Pruned": {
      const ids = event.pruned.map(({ id }) => id)
      return [{ step: event.step, kind: "prune", ids, selective: ids.length > 0, evidence: evidenceOf(before) }]
    }
    case "ParentsChosen": {
      const selective = before.population.members.length > event.parents.length
      return [{ step: event.step, kind: "parents", ids: event.parents, selective, evidence: evidenceOf(before) }]
    }
    case "PopulationRefilled":
    case "EvolutionSkipped": {
      const verified = before.evolution?.verified ?? []
      const accepted = event._tag === "PopulationRefilled" ? event.accepted : []
      return [
        {
          step: event.step,
          kind: "refill",
          ids: accepted.map(({ instruction }) => instruction.id),
          selective: verified.length > accepted.length || !log.evolutions.has(event.step),
          evidence: verified.map(({ candidate, questions }) => ({
            name: JSON.stringify(candidate.text),
            groups: questions
          }))
        }
      ]
    }
    default:
      return []
  }
}

/** The observations behind a value. Those of an instruction that the log draws no more count until they leave the window. */
const observed = (
  log: Log,
  algorithm: Algorithm,
  { population, step: now }: RunState.RunState,
  id: Instruction.InstructionId
) => {
  const window = Option.match(Population.find(population, id), { onNone: () => [], onSome: (member) => member.window })
  return id in (log.plans.get(now)?.probabilities ?? {})
    ? window
    : window.filter(({ step }) => step > now - algorithm.selection.window)
}

/** New over logged probability of an instruction at a step; 0 if it was removed under the new settings. */
const ratio = (log: Log, probabilities: Probabilities, step: number, id: string): number => {
  const now = probabilities.get(step)?.[id] ?? 0
  const then = log.plans.get(step)?.probabilities[id] ?? 0
  return then === 0 ? 1 : now / then
}

/** The mean over steps of the mean reward of a step, with self-normalized weights of {@link ratio}. */
const reward = (log: Log, probabilities: Probabilities): number | null => {
  const steps = [...log.sums].map(([step, sums]) => {
    const weighted = sums.map((own) => ({ ...own, weight: ratio(log, probabilities, step, own.id) }))
    const total = sumAll(weighted.map(({ count, weight }) => count * weight))
    return {
      isCovered: total > 0 && isSupported(log, probabilities, step),
      mean: sumAll(weighted.map(({ rewards, weight }) => rewards * weight)) / total,
      weights: weighted.map(({ count, weight }) => ({ count, weight: weight / total }))
    }
  })
  return steps.every(({ isCovered }) => isCovered) && kish(steps.flatMap(({ weights }) => weights)) >= minimumGroups
    ? sumAll(steps.map(({ mean }) => mean)) / steps.length
    : null
}

/** Whether the log could draw every instruction that the new settings could draw. */
const isSupported = (log: Log, probabilities: Probabilities, step: number): boolean =>
  Object.keys(probabilities.get(step) ?? {}).every((id) => id in (log.plans.get(step)?.probabilities ?? {}))

const isEvaluating = ({ phase }: RunState.RunState): boolean => phase._tag === "Evaluate"

/** One trajectory per group is enough, since only rewards are folded. */
const withoutTrajectories = (event: Event<"RolloutsCollected">): Event<"RolloutsCollected"> => ({
  ...event,
  groups: event.groups.map((group) => ({ ...group, trajectories: [group.trajectories[0]] }))
})

const sums = (groups: ReadonlyArray<Group.Group>) =>
  [...Map.groupBy(groups, ({ instructionId }) => instructionId)].map(([id, own]) => ({
    id,
    count: own.length,
    rewards: sumAll(own.map(Group.meanReward))
  }))

const buffers = (algorithm: Algorithm, events: ReadonlyArray<RunEvent>): Log["buffers"] => {
  const found = new Map<number, ReplayBuffer.Contents>()
  let buffer = ReplayBuffer.empty
  let step = 0
  for (const event of events) {
    if (event._tag === "RolloutsCollected")
      buffer = ReplayBuffer.add(algorithm.selection, buffer, event.step, experiences(event.step, event.groups))
    if (event._tag === "StepTrained") step = event.step
    if (event._tag === "CandidatesProposed") found.set(step, buffer)
  }
  return found
}

/** Answers every command from the log. */
const environment =
  (log: Log): Environment =>
  (command, state) => {
    switch (command._tag) {
      case "Record":
        return recorded(log, command.event)
      case "Initialise":
        return log.initial
      case "Collect":
        return living(Invariant.get(log.rewards, command.plan.step, "rewards"), state)
      case "PlanTraining":
        return { _tag: "TrainingPlanned", step: command.step, batchHash: "", miniBatches: 0 }
      case "Train":
        return { _tag: "StepTrained", step: command.step, metrics: [] }
      case "Validate":
        return {
          _tag: "Validated",
          step: command.step,
          instruction: command.instruction.id,
          groups: log.validations.get(command.step)?.groups ?? []
        }
      case "Propose": {
        const { parent, round, step } = command
        const proposed = log.proposals.get(`${step}.${round}`)
        // Candidates are compared with the parent that they were written from, unless it does not exist here.
        const known = state.instructions.find(({ id }) => id === proposed?.parent) ?? parent
        return {
          _tag: "CandidatesProposed",
          step,
          round,
          parent: known.id,
          failures: proposed?.failures ?? [],
          critique: proposed?.critique ?? "",
          candidates: proposed?.candidates ?? [],
          rejected: proposed?.rejected ?? [],
          ...(proposed?.failure === undefined ? {} : { failure: proposed.failure })
        }
      }
      case "Verify":
        return (
          log.verifications.get(`${command.step}.${command.round}`) ?? {
            _tag: "CandidatesVerified",
            step: command.step,
            round: command.round,
            questions: [],
            candidates: command.candidates.map(() => []),
            parent: null,
            rollouts: 0,
            tokens: 0
          }
        )
      case "Checkpoint":
        return { _tag: "CheckpointSaved", step: command.step, checkpoint: { uri: "none", hash: "" }, removed: [] }
      case "Evaluate":
        return { _tag: "Evaluated", policy: command.policy, instruction: command.instruction.id, groups: [] }
    }
  }

/** The rewards of a step in the log, for the instructions that exist under the new settings. */
const living = (logged: Event<"RolloutsCollected">, { population }: RunState.RunState): Event<"RolloutsCollected"> => {
  const ids = new Set(Population.ids(population))
  return { ...logged, groups: logged.groups.filter(({ instructionId }) => ids.has(instructionId)) }
}

/** A decision of the loop, with the ids and costs of the log. */
const recorded = (log: Log, event: RunEvent): RunEvent => {
  if (event._tag === "PopulationRefilled") return asInLog(log, event)
  return event
}

/** Newcomers that the log accepted at that step keep their ids; others are not in the log and get new ids. */
const asInLog = (log: Log, event: Event<"PopulationRefilled">): Event<"PopulationRefilled"> => {
  const lived = new Map(log.refills.get(event.step)?.accepted.map(({ instruction }) => [instruction.text, instruction]))
  return {
    ...event,
    accepted: event.accepted.map((newcomer, place) => ({
      ...newcomer,
      instruction: lived.get(newcomer.instruction.text) ?? {
        ...newcomer.instruction,
        id: unlived(event.step, place)
      }
    }))
  }
}

const unlived = (step: number, place: number): Instruction.InstructionId =>
  Instruction.InstructionId.make(`candidate-${step}.${place}`)

import { plural } from "@inspo/report"
import { type Degradation, Rounds, type RunEvent, Schedule } from "@inspo/coevolution"
import { measure } from "@inspo/reward"
import { Bootstrap } from "@inspo/statistics"
import type { RunConfig } from "@inspo/config"
import type { Instruction } from "@inspo/domain"
import { Array as Arr, Number } from "effect"

/** The progress of a run. Rewards, values and shares are in [0, 1]; times are in milliseconds. */
export interface Progress {
  readonly step: number
  readonly steps: number
  /** The name of rewards. */
  readonly measure: string
  /** Mean training reward, of how many answers, and executed searches per trajectory of the latest step. */
  readonly reward: number | null
  readonly answers: number
  readonly toolCalls: number | null
  readonly leader: Leader | null
  readonly activity: string
  /** The parts that failed so far, with how often. */
  readonly degraded: ReadonlyArray<Pick<Degradation.Degradation, "part" | "count">>
  /** Rollouts of the whole run as planned, those done, and those done before this session. */
  readonly planned: number
  readonly done: number
  readonly doneBefore: number
  readonly startedAt: number
  readonly now: number
}

/** The population after an event: how many live, and which leads. */
export interface Leader {
  readonly population: number
  readonly best: Instruction.Instruction
  readonly value: number | null
}

/** A run before its first event; `done` rollouts were made by earlier sessions. */
export const start = (config: RunConfig, done: number, now: number): Progress => ({
  step: 0,
  steps: config.schedule.steps,
  measure: measure(config.reward),
  reward: null,
  answers: 0,
  toolCalls: null,
  leader: null,
  activity: "starting",
  degraded: [],
  planned: Number.sumAll(Object.values(plannedByPurpose(config))),
  done,
  doneBefore: done,
  startedAt: now,
  now
})

/** The progress after an event, with the rollouts made until then. */
export const observe = (
  progress: Progress,
  event: RunEvent,
  facts: Pick<Progress, "leader" | "degraded" | "now"> & { readonly rollouts: number }
): Progress => ({
  ...progress,
  step: event._tag === "StepTrained" ? event.step : progress.step,
  ...(event._tag === "RolloutsCollected"
    ? {
        reward: Bootstrap.meanOf(event.groups.flatMap(({ rewards }) => rewards)),
        answers: event.groups.reduce((sum, { rewards }) => sum + rewards.length, 0),
        toolCalls: Bootstrap.meanOf(event.groups.flatMap(({ toolCalls }) => toolCalls))
      }
    : {}),
  leader: facts.leader ?? progress.leader,
  activity: activityAfter(event),
  degraded: facts.degraded,
  done: facts.rollouts,
  now: facts.now
})

/** Estimated milliseconds until the end, from the rollouts of this session; null until there are any. */
export const timeLeft = (progress: Progress): number | null => {
  const made = progress.done - progress.doneBefore
  if (made <= 0) return null
  return ((progress.now - progress.startedAt) / made) * Math.max(0, progress.planned - progress.done)
}

/** Rollouts of training, verification (when every evolution takes one round) and evaluation. */
export const plannedByPurpose = (config: RunConfig) => {
  const { schedule, train, rollout, verification, proposer, evaluation, population, selection } = config
  const evolutions = Schedule.evolutions(config).length
  const rerun = selection.baseline === "rerun" ? 1 : 0
  const looks = Schedule.validations(config).length
  return {
    train: Arr.range(1, schedule.steps).reduce(
      (sum, step) => sum + train.batchSize * rollout.groupSize + Rounds.mostRollouts(config, step, train.batchSize),
      0
    ),
    verification: evolutions * (proposer.candidates + rerun) * verification.samples,
    evaluation: (population.size > 1 ? 4 : 2) * evaluation.questions + looks * Schedule.validationQuestions
  }
}

const activityAfter = (event: RunEvent): string => {
  switch (event._tag) {
    case "StepPlanned":
    case "RoundPlanned":
      return "rolling out"
    case "RolloutsCollected":
    case "TrainingPlanned":
      return "training the policy"
    case "CandidatesProposed":
      return `verifying ${plural(event.candidates.length, "candidate")} (round ${event.round})`
    case "CandidatesVerified":
      return "choosing among the candidates"
    case "Evaluated":
      return "evaluating"
    case "RunFinished":
      return "finished"
    default:
      return "planning"
  }
}

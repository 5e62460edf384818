/** The data of a run for all views: a fold of its events. */
import { type RunEvent, RunState, Selection, apply } from "@inspo/coevolution"
import { type Group, type Instruction, PlainText, type Trajectory } from "@inspo/domain"
import { names } from "@inspo/report"
import { Projection } from "@inspo/analysis"
import type { RunConfig } from "@inspo/config"
import type { Purpose } from "./view/TrajectoryView.ts"

/** The events of evolutions and prunings; they are few and small. */
export type LifeEvent = Extract<
  RunEvent,
  {
    readonly _tag:
      | "PopulationInitialised"
      | "Pruned"
      | "CandidatesProposed"
      | "CandidatesVerified"
      | "PopulationRefilled"
      | "EvolutionSkipped"
  }
>

/** The trajectories of one event. */
export type Batch = Groups | Verified

/** The groups of one event, with its failed trajectories. */
export interface Groups {
  readonly purpose: Exclude<Purpose, "verify">
  readonly step: number
  readonly groups: ReadonlyArray<Group.Group>
  readonly failed: ReadonlyArray<Trajectory.TrajectoryId>
}

/** The questions that the candidates and `parent` answered. */
export interface Verified {
  readonly purpose: "verify"
  readonly step: number
  readonly verified: Extract<RunEvent, { readonly _tag: "CandidatesVerified" }>
  readonly parent: Instruction.InstructionId | null
  readonly failed: ReadonlyArray<Trajectory.TrajectoryId>
}

export interface RunRecord {
  readonly config: RunConfig
  /** The number of folded events, which is the sequence number of the next one. */
  readonly sequence: number
  readonly state: RunState.RunState
  readonly rows: ReadonlyArray<Projection.MetricsRow>
  readonly lives: ReadonlyArray<LifeEvent>
  readonly batches: ReadonlyArray<Batch>
  readonly validated: ReadonlyArray<Extract<RunEvent, { readonly _tag: "Validated" }>>
  /** The names of instructions and candidates by id. */
  readonly names: ReadonlyMap<string, string>
  readonly sampled: Projection.Sampled
}

export const empty = (config: RunConfig): RunRecord => ({
  config,
  sequence: 0,
  state: RunState.unstarted,
  rows: [],
  lives: [],
  batches: [],
  validated: [],
  names: new Map(),
  sampled: Projection.nothingSampled
})

/** The record after further events, oldest first. */
export const observe = (record: RunRecord, events: ReadonlyArray<RunEvent>): RunRecord => {
  const rows = [...record.rows]
  const lives = [...record.lives]
  const batches = [...record.batches]
  const validated = [...record.validated]
  let { sampled, state } = record
  for (const event of events) {
    state = apply({ algorithm: record.config }, state, event)
    sampled = Projection.sampledAfter(sampled, event)
    switch (event._tag) {
      case "RolloutsCollected":
        batches.push(groups("train", event.step, event))
        break
      case "StepTrained":
        if (sampled.step !== null) rows.push(Projection.metricsRow(sampled.step, event.metrics, state))
        break
      case "Validated":
        validated.push(event)
        batches.push(groups("validate", event.step, event))
        break
      case "Evaluated":
        batches.push(
          groups("evaluate", event.policy === "before" ? 0 : Selection.selected(record.config, state).step, event)
        )
        break
      case "CandidatesVerified":
        batches.push(verified(event, lives))
        lives.push(event)
        break
      case "PopulationInitialised":
      case "Pruned":
      case "CandidatesProposed":
      case "PopulationRefilled":
      case "EvolutionSkipped":
        lives.push(event)
        break
      default:
        break
    }
  }
  return {
    config: record.config,
    sequence: record.sequence + events.length,
    state,
    rows,
    lives,
    batches,
    validated,
    names: events.some(({ _tag }) => hasTexts(_tag))
      ? names([...state.instructions, ...candidatesOf(lives)].map(named))
      : record.names,
    sampled
  }
}

/** The rollouts of the training steps. */
export const trainingBatches = ({ batches }: Pick<RunRecord, "batches">): ReadonlyArray<Groups> =>
  batches.filter((batch): batch is Groups => batch.purpose === "train")

/** Whether events of this kind can contain new instructions or candidates. */
const hasTexts = (tag: RunEvent["_tag"]): boolean =>
  tag === "PopulationInitialised" || tag === "CandidatesProposed" || tag === "PopulationRefilled"

const named = ({ id, parent, text }: Instruction.Instruction) => ({ id, parent, text: PlainText.escape(text) })

const candidatesOf = (lives: ReadonlyArray<LifeEvent>): ReadonlyArray<Instruction.Instruction> =>
  lives.flatMap((event) =>
    event._tag === "CandidatesProposed"
      ? event.candidates.map((candidate, place) => RunState.candidateInstruction(event, candidate, place))
      : []
  )

const groups = (
  purpose: Groups["purpose"],
  step: number,
  {
    failed,
    groups
  }: {
    readonly groups: ReadonlyArray<Group.Group>
    readonly failed?: { readonly trajectories: ReadonlyArray<Trajectory.TrajectoryId> }
  }
): Groups => ({ purpose, step, groups, failed: failed?.trajectories ?? [] })

const verified = (event: Verified["verified"], lives: ReadonlyArray<LifeEvent>): Verified => {
  const proposed = lives.findLast((before) => before._tag === "CandidatesProposed")
  return {
    purpose: "verify",
    step: event.step,
    verified: event,
    parent: event.parent === null ? null : (proposed?.parent ?? null),
    failed: event.failed?.trajectories ?? []
  }
}

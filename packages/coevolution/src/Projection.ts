import type { Group, Instruction } from "@inspo/domain"
import type { TrainMetrics } from "@inspo/engine"
import { apply } from "./Apply.ts"
import type { Setting } from "./Next.ts"
import type { RunEvent, RolloutsCollected, StepPlanned } from "./RunEvent.ts"
import * as RunState from "./RunState.ts"

/** One line of `metrics.jsonl`: reproducible values of one step, by the names trackers use. */
export type MetricsRow = Readonly<Record<string, number>>

/**
 * One row per trained step: rewards, tool calls and lengths as means over the step's trajectories, the policy update
 * as means over its optimizer steps, and weight and probability of every living instruction. A replica of a run gives
 * the same rows to the bit.
 */
export const metrics = (setting: Setting, events: ReadonlyArray<RunEvent>): ReadonlyArray<MetricsRow> => {
  const rows: Array<MetricsRow> = []
  let state = RunState.unstarted
  let plan: typeof StepPlanned.Type | null = null
  let collected: typeof RolloutsCollected.Type | null = null
  for (const event of events) {
    state = apply(setting, state, event)
    if (event._tag === "StepPlanned") plan = event
    if (event._tag === "RolloutsCollected") collected = event
    if (event._tag === "StepTrained" && plan !== null && collected !== null)
      rows.push(metricsRow(plan, collected.groups, event.metrics, state))
  }
  return rows
}

/** The row of one step; `state` is the one after its policy update. */
export const metricsRow = (
  plan: typeof StepPlanned.Type,
  groups: ReadonlyArray<Group.Group>,
  updates: ReadonlyArray<TrainMetrics>,
  state: RunState.RunState
): MetricsRow => ({
  step: plan.step,
  "reward/mean": mean(groups.flatMap(({ rewards }) => rewards)),
  ...Object.fromEntries(
    [...Map.groupBy(groups, ({ dataSource }) => dataSource)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([source, own]) => [`reward/${source}`, mean(own.flatMap(({ rewards }) => rewards))])
  ),
  "tool_calls/mean": mean(groups.flatMap(({ toolCalls }) => toolCalls)),
  "prompt_length/mean": mean(groups.map(({ promptTokens }) => promptTokens)),
  "response_length/mean": mean(groups.flatMap(({ responseTokens }) => responseTokens)),
  "groups/mixed": mean(groups.map(({ rewards }) => (new Set(rewards).size > 1 ? 1 : 0))),
  lr: plan.learningRate,
  loss: mean(updates.map(({ loss }) => loss)),
  kl: mean(updates.map(({ kl }) => kl)),
  clipfrac: mean(updates.map(({ clipFraction }) => clipFraction)),
  grad_norm: mean(updates.map(({ gradientNorm }) => gradientNorm)),
  "rollouts/train": state.spent.rollouts.train,
  "rollouts/verification": state.spent.rollouts.verification,
  "tokens/train": state.spent.tokens.train,
  "tokens/verification": state.spent.tokens.verification,
  "inspo/population": state.population.members.length,
  ...Object.fromEntries(
    state.population.members.flatMap(({ instruction, weight }) =>
      weight === null ? [] : [[`inspo/weight/${instruction.id}`, weight]]
    )
  ),
  ...Object.fromEntries(Object.entries(plan.probabilities).map(([id, p]) => [`inspo/prob/${id}`, p]))
})

/** What became of one instruction or of a candidate that never became one. */
export interface CandidateRecord {
  readonly text: string
  /** Null for a candidate that did not enter the population. */
  readonly id: Instruction.InstructionId | null
  readonly parent: Instruction.InstructionId | null
  readonly generation: number | null
  /** Step after which it was proposed or, for the first population, 0. */
  readonly step: number
  readonly critique: string | null
  readonly verification: {
    readonly mean: number
    readonly parentMean: number | null
    readonly questions: number
  } | null
  readonly fate: "alive" | "pruned" | "replaced" | "rejected" | "malformed"
  /** Step after which it left the population. */
  readonly leftAt: number | null
  readonly reason: string | null
}

/** Every instruction and candidate of a run, in order of appearance: what `candidates.json` holds. */
export const candidates = (events: ReadonlyArray<RunEvent>): ReadonlyArray<CandidateRecord> => {
  const records = new Map<string, CandidateRecord>()
  const put = (record: CandidateRecord) => records.set(record.text, record)
  const textOf = new Map<Instruction.InstructionId, string>()
  const alive = new Set<Instruction.InstructionId>()
  const enter = (instruction: Instruction.Instruction) => {
    textOf.set(instruction.id, instruction.text)
    alive.add(instruction.id)
  }
  const leave = (id: Instruction.InstructionId, change: Pick<CandidateRecord, "fate" | "leftAt" | "reason">) => {
    alive.delete(id)
    const record = records.get(textOf.get(id) ?? "")
    if (record !== undefined) put({ ...record, ...change })
  }
  let proposal: Extract<RunEvent, { readonly _tag: "CandidatesProposed" }> | null = null
  for (const event of events) {
    switch (event._tag) {
      case "PopulationInitialised":
        for (const instruction of event.instructions) {
          enter(instruction)
          put({ ...blank, ...instruction, step: 0, fate: "alive" })
        }
        break
      case "CandidatesProposed":
        proposal = event
        for (const { reason, text } of event.rejected)
          if (!records.has(text))
            put({ ...blank, text, parent: event.parent, step: event.step, fate: "malformed", reason })
        for (const { text } of event.candidates)
          put({ ...blank, text, parent: event.parent, step: event.step, critique: event.critique, fate: "rejected" })
        break
      case "CandidatesVerified":
        for (const [index, { text }] of (proposal?.candidates ?? []).entries()) {
          const record = records.get(text)
          if (record === undefined) continue
          put({
            ...record,
            verification: {
              mean: mean(event.candidates[index] ?? []),
              parentMean: event.parent === null ? null : mean(event.parent),
              questions: event.questions.length
            }
          })
        }
        break
      case "PopulationRefilled": {
        const kept = new Set(event.parents)
        for (const id of alive)
          if (!kept.has(id)) leave(id, { fate: "replaced", leftAt: event.step, reason: "not a parent at the refill" })
        for (const { instruction, verdict } of event.accepted) {
          enter(instruction)
          const record = records.get(instruction.text) ?? { ...blank, text: instruction.text, step: event.step }
          put({
            ...record,
            id: instruction.id,
            parent: instruction.parent,
            generation: instruction.generation,
            fate: "alive",
            reason: verdict
          })
        }
        break
      }
      case "Pruned":
        for (const { id, reason } of event.pruned) leave(id, { fate: "pruned", leftAt: event.step, reason })
        break
      default:
        break
    }
  }
  return [...records.values()].map(
    ({ text, id, parent, generation, step, critique, verification, fate, leftAt, reason }) => ({
      id,
      text,
      parent,
      generation,
      step,
      critique,
      verification,
      fate,
      leftAt,
      reason
    })
  )
}

const blank: Omit<CandidateRecord, "text" | "step"> = {
  id: null,
  parent: null,
  generation: null,
  critique: null,
  verification: null,
  fate: "rejected",
  leftAt: null,
  reason: null
}

const mean = (values: ReadonlyArray<number>): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

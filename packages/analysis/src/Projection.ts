import type { Group, Instruction } from "@inspo/domain"
import type { TrainMetrics } from "@inspo/engine"
import { Interval } from "@inspo/statistics"
import { apply, type Folding, type RunEvent, type RunEvents, RunState } from "@inspo/coevolution"

/** One line of `metrics.jsonl`: reproducible values of one step, by the names trackers use. */
export type MetricsRow = Readonly<Record<string, number>>

/**
 * One row per trained step: rewards, tool calls and lengths as means over the step's trajectories, the policy update
 * as means over its optimizer steps, and value and probability of every instruction of the population. A replica of a
 * run has bit-identical rows.
 */
export const metrics = (folding: Folding, events: ReadonlyArray<RunEvent>): ReadonlyArray<MetricsRow> => {
  const rows: Array<MetricsRow> = []
  let state = RunState.unstarted
  let sampled = nothingSampled
  for (const event of events) {
    state = apply(folding, state, event)
    sampled = sampledAfter(sampled, event)
    if (event._tag === "StepTrained" && sampled.step !== null) rows.push(metricsRow(sampled.step, event.metrics, state))
  }
  return rows
}

/** The last plan of a step, and the last step whose rollouts are collected: the one before it, if it is planned ahead. */
export interface Sampled {
  readonly planned: typeof RunEvents.StepPlanned.Type | null
  readonly step: {
    readonly plan: typeof RunEvents.StepPlanned.Type
    readonly collected: typeof RunEvents.RolloutsCollected.Type
    readonly findings?: RunEvents.Findings | undefined
  } | null
}

export const nothingSampled: Sampled = { planned: null, step: null }

/** What is planned and collected after another event. */
export const sampledAfter = (before: Sampled, event: RunEvent): Sampled => {
  if (event._tag === "StepPlanned") return { ...before, planned: event }
  if (event._tag === "TrainingPlanned" && before.step !== null)
    return { ...before, step: { ...before.step, findings: event.findings } }
  return event._tag === "RolloutsCollected" && before.planned !== null
    ? { ...before, step: { plan: before.planned, collected: event } }
    : before
}

/**
 * The row of one step; `state` is the one after its policy update. Means are omitted if every trajectory failed, and
 * `rollouts/failed` if none did. Rows with a judge have its questions, and the share of verdicts that another one contradicted.
 */
export const metricsRow = (
  { collected: { failed, groups }, findings, plan }: NonNullable<Sampled["step"]>,
  updates: ReadonlyArray<TrainMetrics>,
  state: RunState.RunState
): MetricsRow => ({
  step: plan.step,
  ...(groups.length === 0 ? {} : rolloutMeans(groups)),
  ...(failed === undefined ? {} : { "rollouts/failed": failed.trajectories.length }),
  ...(findings === undefined || findings.asked === 0 ? {} : judgeMeans(findings)),
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
  ...Object.fromEntries(plan.values.map(({ id, value }) => [`inspo/value/${id}`, value])),
  ...Object.fromEntries(
    plan.values.flatMap(({ chance, id }) => (chance === undefined ? [] : [[`inspo/best/${id}`, chance]]))
  ),
  ...Object.fromEntries(Object.entries(plan.probabilities).map(([id, p]) => [`inspo/prob/${id}`, p]))
})

const judgeMeans = ({ again, asked, differing, unread }: RunEvents.Findings): MetricsRow => ({
  "judge/asked": asked,
  "judge/unread": unread,
  ...(again === 0 ? {} : { "judge/noise": differing / again })
})

const rolloutMeans = (groups: ReadonlyArray<Group.Group>): MetricsRow => ({
  "reward/mean": mean(groups.flatMap(({ rewards }) => rewards)),
  ...Object.fromEntries(
    [...Map.groupBy(groups, ({ dataSource }) => dataSource)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([source, own]) => [`reward/${source}`, mean(own.flatMap(({ rewards }) => rewards))])
  ),
  "tool_calls/mean": mean(groups.flatMap(({ toolCalls }) => toolCalls)),
  "prompt_length/mean": mean(groups.map(({ promptTokens }) => promptTokens)),
  "response_length/mean": mean(groups.flatMap(({ responseTokens }) => responseTokens)),
  "groups/mixed": mean(groups.map(({ rewards }) => (new Set(rewards).size > 1 ? 1 : 0)))
})

/** The number of candidates verified for the next refill, after another event. */
export const tried = (before: number, event: RunEvent): number => {
  if (event._tag === "CandidatesJudged") return before + event.verdicts.length
  return event._tag === "PopulationRefilled" || event._tag === "EvolutionSkipped" ? 0 : before
}

/** The history of one instruction, or of a candidate that did not enter. */
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
    /** Its reward minus that of the parent, by question; null unless both were run on at least two of the same questions. */
    readonly difference: Interval.MeanDifference | null
  } | null
  readonly fate: "alive" | "pruned" | "replaced" | "rejected" | "malformed"
  /** Step after which it left the population. */
  readonly leftAt: number | null
  readonly reason: string | null
}

/** Every instruction and candidate of a run, in order of appearance: what `candidates.json` holds. */
export const candidates = (events: ReadonlyArray<RunEvent>): ReadonlyArray<CandidateRecord> => {
  const records: Array<CandidateRecord> = []
  const placeOf = new Map<Instruction.InstructionId, number>()
  const change = (place: number | undefined, changes: Partial<CandidateRecord>) => {
    const record = place === undefined ? undefined : records[place]
    if (place !== undefined && record !== undefined) records[place] = { ...record, ...changes }
  }
  /** The index of the candidate that became an instruction; texts can repeat. */
  const placeOfCandidate = (step: number, text: string, mean: number): number => {
    const open = [...records.entries()].filter(
      ([, record]) => record.id === null && record.fate === "rejected" && record.step === step && record.text === text
    )
    return (open.find(([, { verification }]) => verification?.mean === mean) ?? open[0])?.[0] ?? -1
  }
  let proposed: ReadonlyArray<number> = []
  let evolution = 0
  for (const event of events) {
    switch (event._tag) {
      case "PopulationInitialised":
        for (const { generation, id, parent, text } of event.instructions)
          placeOf.set(id, records.push({ ...blank, id, text, parent, generation, step: 0, fate: "alive" }) - 1)
        break
      case "CandidatesProposed":
        evolution = event.step
        for (const { reason, text } of event.rejected)
          if (!records.some((known) => known.text === text))
            records.push({ ...blank, text, parent: event.parent, step: event.step, fate: "malformed", reason })
        proposed = event.candidates.map(
          ({ text }) =>
            records.push({ ...blank, text, parent: event.parent, step: event.step, critique: event.critique }) - 1
        )
        break
      case "CandidatesVerified":
        for (const [index, place] of proposed.entries()) {
          const scores = event.candidates[index] ?? []
          change(place, {
            verification: {
              mean: mean(scores),
              parentMean: event.parent === null ? null : mean(event.parent),
              questions: scores.length,
              difference: Interval.meanDifference(
                event.parent?.map((parent, index) => (scores[index] ?? 0) - parent) ?? []
              )
            }
          })
        }
        break
      case "CandidatesJudged":
        // A parent without new rollouts was compared by its recorded mean, which only the verdict contains.
        for (const [index, { parentMean }] of event.verdicts.entries()) {
          const place = proposed[index]
          const verification = records[place ?? -1]?.verification ?? null
          if (verification !== null) change(place, { verification: { ...verification, parentMean } })
        }
        break
      case "PopulationRefilled":
        for (const { id, reason } of event.replaced)
          change(placeOf.get(id), {
            fate: "replaced",
            leftAt: event.step,
            reason: reason === "forced" ? "made room" : reason
          })
        for (const { instruction, mean, verdict } of event.accepted) {
          const { generation, id, parent } = instruction
          const place = placeOfCandidate(evolution, instruction.text, mean)
          placeOf.set(id, place)
          change(place, { id, parent, generation, fate: "alive", reason: verdict })
        }
        break
      case "Pruned":
        for (const { id, reason } of event.pruned)
          change(placeOf.get(id), { fate: "pruned", leftAt: event.step, reason })
        break
      default:
        break
    }
  }
  return records
}

/** Keys in the order in which `candidates.json` lists them. */
const blank: CandidateRecord = {
  id: null,
  text: "",
  parent: null,
  generation: null,
  step: 0,
  critique: null,
  verification: null,
  fate: "rejected",
  leftAt: null,
  reason: null
}

const mean = (values: ReadonlyArray<number>): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

import * as Conclusion from "@inspo/coevolution/Conclusion"
import * as Degradation from "@inspo/coevolution/Degradation"
import type { MetricsRow } from "@inspo/coevolution/Projection"
import type { Group, Instruction } from "@inspo/domain"
import * as PlainText from "@inspo/domain/PlainText"
import { measure } from "@inspo/reward/RewardConfig"
import { Option } from "effect"
import { mean } from "../Means.ts"
import type { RunNotes } from "../RunCatalog.ts"
import type { RunRecord } from "../RunRecord.ts"
import type { CellView, InstructionView, Names, OverviewView, TrainedView } from "../view/OverviewView.ts"
import type { RunView } from "../view/RunView.ts"
import { marks } from "./Marks.ts"
import { bySource, share } from "./Scores.ts"
import { settings } from "./Settings.ts"

export const overview = (run: RunView, record: RunRecord, notes: RunNotes): OverviewView => {
  const { config, rows, state, validated } = record
  return {
    run,
    settings: settings(config, state.strategies),
    steps: rows.map(({ step }) => step ?? 0),
    series: series(rows),
    trained: trained(record),
    marks: marks(record),
    validations: validated.map(({ groups, instruction, step }) => ({
      step,
      instruction,
      ...share(groups),
      sources: bySource(groups)
    })),
    cells: cells(record),
    baseline: notes.baseline,
    names: namesOf(record),
    seed: instructionView(record, state.instructions[0]),
    best: instructionView(record, bestInstruction(record)),
    degraded: [...state.degraded, ...notes.degraded].map((one) => PlainText.escape(Degradation.tell(one))),
    wallSeconds: notes.wallSeconds
  }
}

const trained = ({ batches, config }: RunRecord): TrainedView => {
  const steps = batches.flatMap((batch) => (batch.purpose === "train" ? [batch.groups] : []))
  const answers = (groups: ReadonlyArray<Group.Group>) => groups.reduce((sum, { rewards }) => sum + rewards.length, 0)
  return {
    measure: measure(config.reward),
    answers: Object.fromEntries(
      [...Map.groupBy(steps.flat(), ({ dataSource }) => dataSource)].map(([source, own]) => [source, answers(own)])
    ),
    perStep: answers(steps.flat()) / Math.max(1, steps.length)
  }
}

/** The names of the instructions, without those of candidates. */
export const namesOf = ({ names, state }: RunRecord): Names =>
  Object.fromEntries(state.instructions.map(({ id }) => [id, names.get(id) ?? id]))

/** The metrics of all steps by name, without those of single instructions. */
export const series = (rows: ReadonlyArray<MetricsRow>): OverviewView["series"] => {
  const names = new Set(rows.flatMap((row) => Object.keys(row)))
  names.delete("step")
  return Object.fromEntries(
    [...names]
      .filter((name) => !/^inspo\/(?:best|prob|value)\//u.test(name))
      .map((name) => [name, rows.map((row) => row[name] ?? null)])
  )
}

/** The evaluated cells of the final table, in its order. */
export const cells = ({ state }: RunRecord): ReadonlyArray<CellView> => {
  const seed = state.instructions[0]
  return (["before", "after"] as const).flatMap((policy) =>
    state.evaluations
      .filter((entry) => entry.policy === policy)
      .sort((a, b) => Number(b.instruction === seed?.id) - Number(a.instruction === seed?.id))
      .map(({ groups, instruction }) => ({
        policy,
        role: instruction === seed?.id ? ("seed" as const) : ("best" as const),
        instruction,
        ...share(groups),
        toolCalls: mean(groups.flatMap(({ toolCalls }) => toolCalls)) ?? 0,
        sources: bySource(groups)
      }))
  )
}

/** The best instruction: of the finished run, or among those alive. */
export const bestInstruction = ({ config, state }: RunRecord): Instruction.Instruction | undefined => {
  const { phase } = state
  return phase._tag === "Finished"
    ? state.instructions.find(({ id }) => id === phase.best)
    : Option.getOrUndefined(Conclusion.leader(config, state))
}

const instructionView = (
  { state }: RunRecord,
  instruction: Instruction.Instruction | undefined
): InstructionView | null => {
  if (instruction === undefined) return null
  const { generation, id } = instruction
  const member = state.population.members.find((one) => one.instruction.id === id)
  // Without a reward the value only decides how often the instruction is drawn.
  const value = member === undefined || member.window.length === 0 ? null : member.value
  return { id, text: PlainText.escape(instruction.text), generation, value }
}

import { Conclusion, Degradation } from "@inspo/coevolution"
import { type Group, type Instruction, PlainText } from "@inspo/domain"
import { measure } from "@inspo/reward"
import type { Projection } from "@inspo/analysis"
import { Option } from "effect"
import { mean, movingSteps } from "../Means.ts"
import { isOfOne, namesIn } from "../Metrics.ts"
import type { RunNotes } from "../RunCatalog.ts"
import { type RunRecord, trainingBatches } from "../RunRecord.ts"
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
    metrics: namesIn(rows).filter((name) => !isOfOne(name)),
    trained: trained(record),
    marks: marks(record),
    validations: validated.map(({ groups, step }) => ({ step, ...share(groups) })),
    cells: cells(record),
    baseline: notes.baseline,
    names: namesOf(record),
    seed: instructionView(record, state.instructions[0]),
    best: instructionView(record, bestInstruction(record)),
    degraded: [...state.degraded, ...notes.degraded].map((one) => PlainText.escape(Degradation.describe(one))),
    wallSeconds: notes.wallSeconds
  }
}

const trained = (record: RunRecord): TrainedView => {
  const { config, rows } = record
  const steps = trainingBatches(record).map(({ groups }) => groups)
  const answers = (groups: ReadonlyArray<Group.Group>) => groups.reduce((sum, { rewards }) => sum + rewards.length, 0)
  return {
    measure: measure(config.reward),
    answers: Object.fromEntries(
      [...Map.groupBy(steps.flat(), ({ dataSource }) => dataSource)].map(([source, own]) => [source, answers(own)])
    ),
    perStep: answers(steps.flat()) / Math.max(1, steps.length),
    ...ends(rows, "reward/mean")
  }
}

/** The names of the instructions, without those of candidates. */
export const namesOf = ({ names, state }: RunRecord): Names =>
  Object.fromEntries(state.instructions.map(({ id }) => [id, names.get(id) ?? id]))

/** The means of a metric over the first and the last {@link movingSteps} steps that have it. */
export const ends = (
  rows: ReadonlyArray<Projection.MetricsRow>,
  name: string
): { readonly first: number | null; readonly last: number | null } => {
  const values = rows.flatMap((row) => row[name] ?? [])
  return { first: mean(values.slice(0, movingSteps)), last: mean(values.slice(-movingSteps)) }
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

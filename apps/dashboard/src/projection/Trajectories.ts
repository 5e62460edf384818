import type { Instruction, Trajectory } from "@inspo/domain"
import type { FailureMode } from "@inspo/reflection/FailureMode"
import type { Batch } from "../RunRecord.ts"
import type { Outcome, TrajectoryQuery, TrajectoryRow } from "../view/TrajectoryView.ts"

/** Every trajectory that the events tell of, oldest first, with what can be filtered by. */
export interface TrajectoryIndex {
  readonly rows: ReadonlyArray<TrajectoryRow>
  readonly sources: ReadonlyArray<string>
  readonly instructions: ReadonlyArray<Instruction.InstructionId>
}

export const index = (batches: ReadonlyArray<Batch>): TrajectoryIndex => {
  const rows = batches.flatMap(rowsOf)
  const instructions = new Set(rows.flatMap(({ instruction }) => (instruction === null ? [] : [instruction])))
  return {
    rows,
    sources: [...new Set(rows.flatMap(({ source }) => (source === null ? [] : [source])))].sort(),
    instructions: [...instructions].sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
  }
}

/** What is known about rows beyond the events: failure modes of those that were read, and texts of questions. */
export interface Known {
  readonly modes: ReadonlyMap<Trajectory.TrajectoryId, ReadonlyArray<FailureMode>>
  readonly text: (question: string) => string | undefined
}

/** The rows that a query asks for, in its order, before they are paged. */
export const select = (
  { rows }: TrajectoryIndex,
  query: TrajectoryQuery,
  known: Known
): ReadonlyArray<TrajectoryRow> => {
  const text = query.text?.trim().toLowerCase()
  const matching = rows.filter(
    (row) =>
      (query.purpose === undefined || row.purpose === query.purpose) &&
      (query.instruction === undefined || row.instruction === query.instruction) &&
      (query.source === undefined || row.source === query.source) &&
      (query.outcome === undefined || row.outcome === query.outcome) &&
      (query.fromStep === undefined || row.step >= query.fromStep) &&
      (query.toStep === undefined || row.step <= query.toStep) &&
      (query.mode === undefined || known.modes.get(row.id)?.includes(query.mode) === true) &&
      (text === undefined ||
        text === "" ||
        (row.question !== null && (known.text(row.question) ?? row.question).toLowerCase().includes(text)))
  )
  switch (query.order) {
    case "oldest":
      return matching
    case "longest":
      return matching.sort((a, b) => b.responseTokens - a.responseTokens)
    case "calls":
      return matching.sort((a, b) => b.toolCalls - a.toolCalls)
    default:
      return matching.toReversed()
  }
}

/** How many of the rows show each failure mode, the most frequent first. */
export const countModes = (
  rows: ReadonlyArray<TrajectoryRow>,
  modes: Known["modes"]
): ReadonlyArray<{ readonly mode: FailureMode; readonly count: number }> => {
  const counts = new Map<FailureMode, number>()
  for (const { id } of rows) for (const mode of modes.get(id) ?? []) counts.set(mode, (counts.get(mode) ?? 0) + 1)
  return [...counts].map(([mode, count]) => ({ mode, count })).sort((a, b) => b.count - a.count)
}

/** Whether a row is one whose transcript tells why it went wrong. */
export const isFailure = ({ outcome, reward }: TrajectoryRow): boolean => outcome !== "failed" && reward < 0.5

const rowsOf = ({ failed, groups, purpose, step }: Batch): ReadonlyArray<TrajectoryRow> => [
  ...groups.flatMap((group) =>
    group.trajectories.map((id, sample) => {
      const reward = group.rewards[sample] ?? 0
      return {
        id,
        purpose,
        step,
        instruction: group.instructionId,
        question: group.questionId,
        source: group.dataSource,
        reward,
        outcome: outcome(reward),
        toolCalls: group.toolCalls[sample] ?? 0,
        responseTokens: group.responseTokens[sample] ?? 0
      }
    })
  ),
  ...failed.map((id) => ({
    id,
    purpose,
    step,
    instruction: null,
    question: null,
    source: null,
    reward: 0,
    outcome: "failed" as const,
    toolCalls: 0,
    responseTokens: 0
  }))
]

const outcome = (reward: number): Outcome => (reward >= 1 ? "right" : reward <= 0 ? "wrong" : "partial")

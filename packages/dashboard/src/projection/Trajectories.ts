import { RunState } from "@inspo/coevolution"
import type { FailureMode } from "@inspo/reflection"
import { type Instruction, type Question, Trajectory } from "@inspo/domain"
import { Array as Arr, Order } from "effect"
import type { Batch, Groups, LifeEvent, Verified } from "../RunRecord.ts"
import type { Outcome, TrajectoryQuery, TrajectoryRow } from "../view/TrajectoryView.ts"

/** Every trajectory in the events, oldest first, with the values of its filters. */
export interface TrajectoryIndex {
  readonly rows: ReadonlyArray<TrajectoryRow>
  readonly sources: ReadonlyArray<string>
  /** In order of proposal, then candidates by their names during verification. */
  readonly instructions: ReadonlyArray<Instruction.InstructionId>
}

export const index = (batches: ReadonlyArray<Batch>): TrajectoryIndex => {
  const sources = new Map(
    batches.flatMap((batch) =>
      batch.purpose === "verify" ? [] : batch.groups.map((group) => [group.questionId, group.dataSource] as const)
    )
  )
  // The last table of a run has answers of the policy before training, at step 0.
  const rows = Arr.sortWith(
    batches.flatMap((batch) => [
      ...(batch.purpose === "verify" ? rowsOfLook(batch, sources) : rowsOfGroups(batch)),
      ...batch.failed.map((id) => failed(batch, id))
    ]),
    ({ step }) => step,
    Order.Number
  )
  const instructions = new Set(rows.flatMap(({ instruction }) => (instruction === null ? [] : [instruction])))
  return {
    rows,
    sources: [...new Set(sources.values())].sort(),
    instructions: [...instructions].sort(
      (a, b) =>
        Number(a.startsWith("candidate")) - Number(b.startsWith("candidate")) ||
        a.localeCompare(b, "en", { numeric: true })
    )
  }
}

/** The text of the instruction or candidate of a trajectory; null if it is not known. */
export const instructionText = (
  lives: ReadonlyArray<LifeEvent>,
  instructions: ReadonlyArray<Instruction.Instruction>,
  id: Instruction.InstructionId
): string | null =>
  instructions.find((known) => known.id === id)?.text ??
  lives
    .flatMap((event) =>
      event._tag === "CandidatesProposed"
        ? event.candidates.map((candidate, place) => RunState.candidateInstruction(event, candidate, place))
        : []
    )
    .find((candidate) => candidate.id === id)?.text ??
  null

/** The data of a transcript that the events do not have. */
export interface Diagnosis {
  readonly modes: ReadonlyArray<FailureMode.FailureMode>
  readonly toolCalls: number
  readonly responseTokens: number
}

/** The data of rows that the events do not have: the transcripts that were read, and the texts of questions. */
export interface Known {
  readonly diagnoses: ReadonlyMap<Trajectory.TrajectoryId, Diagnosis>
  readonly text: (question: string) => string | undefined
}

/** All rows of a query, in its order. Unknown values come last. */
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
      (query.mode === undefined || known.diagnoses.get(row.id)?.modes.includes(query.mode) === true) &&
      (text === undefined ||
        text === "" ||
        (row.question !== null && (known.text(row.question) ?? row.question).toLowerCase().includes(text)))
  )
  const measured = (field: "toolCalls" | "responseTokens") => (row: TrajectoryRow) =>
    row[field] ?? known.diagnoses.get(row.id)?.[field] ?? -1
  switch (query.order) {
    case "oldest":
      return matching
    case "longest":
      return descending(matching, measured("responseTokens"))
    case "calls":
      return descending(matching, measured("toolCalls"))
    default:
      return matching.toReversed()
  }
}

/** How many of the rows show each failure mode, the most frequent first. */
export const countModes = (
  rows: ReadonlyArray<TrajectoryRow>,
  diagnoses: Known["diagnoses"]
): ReadonlyArray<{ readonly mode: FailureMode.FailureMode; readonly count: number }> => {
  const counts = new Map<FailureMode.FailureMode, number>()
  for (const { id } of rows)
    for (const mode of diagnoses.get(id)?.modes ?? []) counts.set(mode, (counts.get(mode) ?? 0) + 1)
  return [...counts].map(([mode, count]) => ({ mode, count })).sort((a, b) => b.count - a.count)
}

/** Whether the transcript of a row can show why it is wrong. */
export const isFailure = ({ outcome, reward }: TrajectoryRow): boolean => outcome !== "failed" && reward < 0.5

/** Whether the transcript of a row has data that the events do not have. */
export const hasMoreData = (row: TrajectoryRow): boolean =>
  row.outcome !== "failed" && (isFailure(row) || row.toolCalls === null)

const descending = (rows: Array<TrajectoryRow>, measure: (row: TrajectoryRow) => number) =>
  rows.sort((a, b) => measure(b) - measure(a))

const rowsOfGroups = ({ groups, purpose, step }: Groups): ReadonlyArray<TrajectoryRow> =>
  groups.flatMap((group) =>
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
  )

/** One trajectory of each arm on each question: `verify/<step>/<round>/<arm>/<question>/0`. */
const rowsOfLook = (
  { failed, verified, parent, step }: Verified,
  sources: ReadonlyMap<Question.QuestionId, string>
): ReadonlyArray<TrajectoryRow> => {
  const lost = new Set(failed.map((id) => id.split("/").at(-2)))
  // A question that failed for one arm has a place in the round, but is not in the event.
  const places: Array<number> = []
  for (let place = 0; places.length < verified.questions.length; place++)
    if (!lost.has(String(place))) places.push(place)
  const ofArm = (
    name: string,
    instruction: Instruction.InstructionId | null,
    rewards: ReadonlyArray<number>
  ): ReadonlyArray<TrajectoryRow> =>
    rewards.map((reward, index) => {
      const question = verified.questions[index] ?? null
      return {
        id: Trajectory.TrajectoryId.make(`verify/${step}/${verified.round}/${name}/${places[index]}/0`),
        purpose: "verify",
        step,
        instruction,
        question,
        source: question === null ? null : (sources.get(question) ?? null),
        reward,
        outcome: outcome(reward),
        toolCalls: null,
        responseTokens: null
      }
    })
  return [
    ...verified.candidates.flatMap((rewards, place) =>
      ofArm(`candidate-${place}`, RunState.candidateId(verified, place), rewards)
    ),
    ...ofArm("parent", parent, verified.parent ?? [])
  ]
}

const failed = ({ purpose, step }: Batch, id: Trajectory.TrajectoryId): TrajectoryRow => ({
  id,
  purpose,
  step,
  instruction: null,
  question: null,
  source: null,
  reward: 0,
  outcome: "failed",
  toolCalls: null,
  responseTokens: null
})

const outcome = (reward: number): Outcome => (reward >= 1 ? "right" : reward <= 0 ? "wrong" : "partial")

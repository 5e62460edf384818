import { protocolOf } from "@inspo/coevolution"
import { FailureMode } from "@inspo/reflection"
import { PlainText, Trajectory } from "@inspo/domain"
import type { Journal } from "@inspo/journal"
import { Array as Arr, Context, Effect, FiberMap, Layer, Option, Schema, Struct } from "effect"
import { NotFound, Unreadable } from "./Api.ts"
import * as Projection from "./projection/Trajectories.ts"
import { type ReadRun, Runs, unreadable } from "./Runs.ts"
import type {
  TrajectoryLine,
  TrajectoryPage,
  TrajectoryQuery,
  TrajectoryRow,
  TrajectoryView
} from "./view/TrajectoryView.ts"

/**
 * The trajectories of runs: listed from the events, in pages; their texts are read from the journal when they are shown.
 * From the first request on, failure modes of wrong trajectories and lengths of verification are read in the background.
 */
export class Trajectories extends Context.Service<Trajectories, Trajectories.Interface>()(
  "@inspo/dashboard/Trajectories"
) {}

export declare namespace Trajectories {
  export interface Interface {
    readonly page: (id: string, query: TrajectoryQuery) => Effect.Effect<TrajectoryPage, NotFound | Unreadable>
    readonly one: (id: string, trajectory: string) => Effect.Effect<TrajectoryView, NotFound | Unreadable>
  }
}

export const layer: Layer.Layer<Trajectories, never, Runs> = Layer.effect(
  Trajectories,
  Effect.gen(function* () {
    const runs = yield* Runs
    const indexedRuns = new Map<string, IndexedRun>()
    const reading = yield* FiberMap.make<string>()

    /** Returns what is kept of a run between requests. */
    const indexOf = Effect.fnUntraced(function* ({ place, record, source }: ReadRun) {
      const known = indexedRuns.get(place.directory)
      const questions = known?.questions ?? (yield* source.questions)
      const indexed: IndexedRun = {
        sequence: record.sequence,
        index: known?.sequence === record.sequence ? known.index : Projection.index(record.batches),
        diagnoses: known?.diagnoses ?? new Map(),
        protocol: protocolOf(record.config),
        questions
      }
      indexedRuns.set(place.directory, indexed)
      return indexed
    })

    /** Reads the trajectories that have more data than their events, a few at a time, so that requests are not delayed. */
    const readOpen = Effect.fn("Trajectories.readOpen")(function* (run: ReadRun, indexed: IndexedRun) {
      const open = indexed.index.rows.filter((row) => Projection.hasMoreData(row) && !indexed.diagnoses.has(row.id))
      if (open.length === 0) return
      const journal = yield* runs.journal(run)
      for (const rows of Arr.chunksOf(open.toReversed(), readAtOnce)) {
        const traces = yield* readTraces(journal, rows)
        for (const row of rows) indexed.diagnoses.set(row.id, diagnosisOf(row, traces.get(row.id), indexed))
        yield* Effect.sleep(pause)
      }
    }, Effect.scoped)

    const page = Effect.fn("Trajectories.page")(function* (id: string, query: TrajectoryQuery) {
      const run = yield* runs.read(id)
      const indexed = yield* indexOf(run)
      yield* FiberMap.run(reading, run.place.directory, Effect.ignore(readOpen(run, indexed)), { onlyIfMissing: true })
      const { diagnoses } = indexed
      const selected = Projection.select(indexed.index, query, {
        diagnoses,
        text: (question) => indexed.questions.get(question)?.question
      })
      const offset = query.offset ?? 0
      const rows = selected.slice(offset, offset + (query.limit ?? defaultLimit))
      const traces = yield* Effect.scoped(Effect.flatMap(runs.journal(run), (journal) => readTraces(journal, rows)))
      const failures = indexed.index.rows.filter(Projection.isFailure)
      return {
        total: selected.length,
        all: indexed.index.rows.length,
        offset,
        rows: rows.map((row) => lineOf(row, traces.get(row.id), indexed)),
        sources: indexed.index.sources,
        instructions: indexed.index.instructions,
        names: Object.fromEntries(indexed.index.instructions.map((id) => [id, run.record.names.get(id) ?? id])),
        diagnosed: { done: failures.filter(({ id }) => diagnoses.has(id)).length, of: failures.length },
        modes: Projection.countModes(selected, diagnoses)
      }
    })

    const one = Effect.fn("Trajectories.one")(function* (id: string, trajectory: string) {
      const run = yield* runs.read(id)
      const indexed = yield* indexOf(run)
      const journal = yield* runs.journal(run)
      const stored = yield* Effect.mapError(journal.getRecord("trajectory", trajectory), unreadable)
      if (Option.isNone(stored)) return yield* new NotFound({ what: `trajectory ${trajectory} in ${id}` })
      const trace = yield* Effect.mapError(
        decodeTrace(stored.value),
        ({ message }) => new Unreadable({ problem: `the trajectory ${trajectory} cannot be read: ${message}` })
      )
      return viewOf(trace, indexed, run)
    }, Effect.scoped)

    return Trajectories.of({ page, one })
  })
)

const defaultLimit = 50

/** Trajectories read at once, and the pause after them, which leaves most of the time for requests. */
const readAtOnce = 10
const pause = "12 millis"

interface IndexedRun {
  readonly sequence: number
  readonly index: Projection.TrajectoryIndex
  /** Mutable: it grows in the background, and copying tens of thousands of entries each time would be slow. */
  readonly diagnoses: Map<Trajectory.TrajectoryId, Projection.Diagnosis>
  readonly protocol: FailureMode.Protocol
  readonly questions: ReadonlyMap<
    string,
    {
      readonly question: string
      readonly goldenAnswers: Arr.NonEmptyReadonlyArray<string>
      readonly dataSource: string
    }
  >
}

/** A stored trajectory without its tokens. */
const Trace = Schema.Struct({
  ...Trajectory.TrajectorySummary.fields,
  ...Struct.pick(Trajectory.Trajectory.fields, ["transcript", "failure"])
})
type Trace = typeof Trace.Type
const decodeTrace = Schema.decodeUnknownEffect(Trace)
const decodeTraceOption = Schema.decodeUnknownOption(Trace)

const readTraces = Effect.fnUntraced(function* (journal: Journal["Service"], rows: ReadonlyArray<TrajectoryRow>) {
  const records = yield* Effect.mapError(
    journal.getRecords(
      "trajectory",
      rows.map(({ id }) => id)
    ),
    unreadable
  )
  return new Map<string, Trace>(
    [...records].flatMap(([key, value]) =>
      Option.match(decodeTraceOption(value), { onNone: () => [], onSome: (trace) => [[key, trace] as const] })
    )
  )
})

/** A trajectory as the list shows it. */
const lineOf = (row: TrajectoryRow, trace: Trace | undefined, indexed: IndexedRun): TrajectoryLine => ({
  ...row,
  text: clip(row.question === null ? null : (indexed.questions.get(row.question)?.question ?? null)),
  answer: clip(trace?.answer ?? null),
  toolCalls: row.toolCalls ?? trace?.toolCalls ?? null,
  responseTokens: row.responseTokens ?? trace?.responseTokens ?? null,
  modes: Projection.isFailure(row) && trace !== undefined ? modesOf(trace, indexed) : []
})

const viewOf = (trace: Trace, indexed: IndexedRun, { record }: ReadRun): TrajectoryView => {
  const question = indexed.questions.get(trace.questionId)
  const row = indexed.index.rows.find((one) => one.id === trace.id)
  const { failure, ...summary } = trace
  return {
    ...summary,
    answer: shown(summary.answer),
    transcript: summary.transcript.map((turn) => ({
      ...turn,
      text: PlainText.escape(turn.text),
      ...(turn.prompt === undefined ? {} : { prompt: PlainText.escape(turn.prompt) }),
      observation: shown(turn.observation)
    })),
    failure: shown(failure ?? null),
    purpose: trace.id.split("/")[0] ?? "",
    step: row?.step ?? 0,
    source: question?.dataSource ?? row?.source ?? null,
    text: shown(question?.question ?? null),
    goldenAnswers: (question?.goldenAnswers ?? []).map(PlainText.escape),
    instruction: shown(Projection.instructionText(record.lives, record.state.instructions, trace.instructionId)),
    modes: trace.reward < 0.5 && !Trajectory.isFailed(trace) ? modesOf(trace, indexed) : []
  }
}

const diagnosisOf = (row: TrajectoryRow, trace: Trace | undefined, indexed: IndexedRun): Projection.Diagnosis => ({
  modes: trace !== undefined && Projection.isFailure(row) ? modesOf(trace, indexed) : [],
  toolCalls: trace?.toolCalls ?? 0,
  responseTokens: trace?.responseTokens ?? 0
})

const modesOf = (trace: Trace, { protocol, questions }: IndexedRun): ReadonlyArray<FailureMode.FailureMode> => {
  const question = questions.get(trace.questionId)
  const { answer, finishReason, reward, transcript } = trace
  const failure = {
    score: reward,
    task: question?.question,
    expected: question?.goldenAnswers,
    transcript: { turns: transcript, answer, finishReason }
  }
  return FailureMode.diagnose(failure, protocol)
}

const longest = 240

const clip = (text: string | null): string | null =>
  shown(text === null || text.length <= longest ? text : `${text.slice(0, longest - 1)}…`)

const shown = (text: string | null): string | null => (text === null ? null : PlainText.escape(text))

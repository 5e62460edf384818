import type { WorldQuestion } from "@inspo/datasets"
import { Instruction, Trajectory } from "@inspo/domain"
import type { EngineError } from "@inspo/engine"
import { ClauseBank } from "@inspo/reflection"
import { Rollout, type RolloutError } from "@inspo/rollout"
import { Array, Effect, Number, Record } from "effect"

/** An instruction to measure, with the name of its row. */
export interface Subject {
  readonly name: string
  readonly instruction: string
}

/** The behaviour of the policy with one instruction. All values except `searches` are shares in [0, 1]; NaN without cases. */
export interface Row {
  readonly name: string
  /** Exact match, over all questions and by data source. */
  readonly exactMatch: number
  readonly bySource: Readonly<Record<string, number>>
  /** Searches per trajectory. */
  readonly searches: number
  readonly searched: number
  /** Among trajectories that searched: the first query was not the question itself. */
  readonly oneEntity: number
  /** Among trajectories that searched: a thought follows a result. */
  readonly stated: number
  /** Among trajectories that answered: the answer is not a sentence. */
  readonly bare: number
  /** Among the names in thoughts after a result: those that occur exactly in that result. */
  readonly copied: number
}

/** The seed instruction alone, with each clause, and with the first wording of all clauses that request a behaviour. */
export const subjects: ReadonlyArray<Subject> = [
  { name: "seed", instruction: ClauseBank.seedInstruction },
  ...ClauseBank.clauses.map((clause) => subject(clause.id, [clause])),
  subject(
    "all useful",
    ClauseBank.clauses.filter((clause) => clause.direction === 1)
  )
]

/** Runs every subject on every question. */
export const measure = Effect.fn("Probe.measure")(function* (
  subjects: ReadonlyArray<Subject>,
  questions: ReadonlyArray<WorldQuestion.WorldQuestion>
): Effect.fn.Return<ReadonlyArray<Row>, EngineError | RolloutError, Rollout> {
  const { collect } = yield* Rollout
  return yield* Effect.forEach(subjects, ({ name, instruction }) => {
    const shared = Instruction.make(instruction, { id: name })
    const episodes = questions.map((question) => ({
      id: Trajectory.TrajectoryId.make(`probe/${name}/${question.id}`),
      instruction: shared,
      question,
      seed: `probe/${name}/${question.id}`
    }))
    return Effect.map(collect(episodes), (trajectories) => summarize(name, questions, trajectories))
  })
})

/** The row of one subject; `trajectories` are parallel to `questions`. */
export const summarize = (
  name: string,
  questions: ReadonlyArray<WorldQuestion.WorldQuestion>,
  trajectories: ReadonlyArray<Trajectory.Trajectory>
): Row => {
  const attempts = Array.zip(questions, trajectories)
  const searched = attempts.filter(([, trajectory]) => trajectory.toolCalls > 0)
  const answered = trajectories.filter((trajectory) => trajectory.answer !== null)
  const names = trajectories.flatMap(statedNames)
  return {
    name,
    exactMatch: mean(trajectories, (trajectory) => trajectory.reward),
    bySource: Record.map(
      Array.groupBy(attempts, ([question]) => question.dataSource),
      (group) => mean(group, ([, trajectory]) => trajectory.reward)
    ),
    searches: mean(trajectories, (trajectory) => trajectory.toolCalls),
    searched: searched.length / trajectories.length,
    oneEntity: share(searched, ([question, trajectory]) => firstQuery(trajectory) !== question.question),
    stated: share(searched, ([, trajectory]) => thoughts(trajectory).length > 0),
    bare: share(answered, (trajectory) => !(trajectory.answer ?? "").endsWith(".")),
    copied: share(names, (stated) => stated.isCopied)
  }
}

/** The rows as an aligned table. */
export const table = (rows: ReadonlyArray<Row>): string => {
  const sources = Object.keys(rows[0]?.bySource ?? {}).sort()
  const header = ["instruction", "EM", ...sources, "searches", "searched", "entity", "stated", "bare", "copied"]
  const cells = rows.map((row) => [
    row.name,
    ...[
      row.exactMatch,
      ...sources.map((source) => row.bySource[source] ?? NaN),
      row.searches,
      row.searched,
      row.oneEntity,
      row.stated,
      row.bare,
      row.copied
    ].map((value) => (isNaN(value) ? "-" : value.toFixed(2)))
  ])
  const widths = header.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)))
  return [header, ...cells]
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  ")
    )
    .join("\n")
}

function subject(name: string, clauses: ReadonlyArray<ClauseBank.Clause>): Subject {
  return { name, instruction: [ClauseBank.seedInstruction, ...clauses.map((clause) => clause.texts[0])].join(" ") }
}

const mean = <A>(items: ReadonlyArray<A>, value: (item: A) => number): number =>
  Number.sumAll(items.map(value)) / items.length

const share = <A>(items: ReadonlyArray<A>, holds: (item: A) => boolean): number =>
  mean(items, (item) => (holds(item) ? 1 : 0))

const firstQuery = (trajectory: Trajectory.Trajectory): string | undefined =>
  trajectory.transcript.find((turn) => turn.action.kind === "search")?.action.content

/** The thoughts that follow a result, each with that result. */
const thoughts = (trajectory: Trajectory.Trajectory) =>
  trajectory.transcript.flatMap((turn, index) => {
    const thought = /<think>(.*?)<\/think>/su.exec(turn.text)?.[1]
    const result = trajectory.transcript[index - 1]?.observation ?? null
    return thought === undefined || result === null ? [] : [{ thought, result }]
  })

const statedNames = (trajectory: Trajectory.Trajectory) =>
  thoughts(trajectory).flatMap(({ thought, result }) =>
    Array.fromIterable(thought.matchAll(/\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+/gu)).map(([name]) => ({
      name,
      isCopied: result.includes(name)
    }))
  )

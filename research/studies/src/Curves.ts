import { Report } from "@inspo/dashboard"
import { Effect, FileSystem, Schema } from "effect"
import { Exact } from "@inspo/statistics"
import { type Host, StudyFailure, type TestPoint } from "./Host.ts"

/** A metric of every step of one run: the value of step i + 1 at index i; null if the step has none. */
export type Course = ReadonlyArray<number | null>

/** A figure of the training: a metric of every step, by its name in `metrics.jsonl`, and a line for each arm. */
export interface Drawing {
  readonly metric: string
  readonly title: string
}

/** The runs of an arm, by their directories. */
export interface Runs {
  readonly arm: string
  readonly directories: ReadonlyArray<string>
}

/** What is read of the runs of an arm. */
interface Read<A> {
  readonly arm: string
  readonly courses: ReadonlyArray<A>
}

/**
 * One figure per metric: for each arm the mean of its runs with the 95 % t-interval over seeds as a band, up to the last step
 * of its shortest run.
 */
export const figure = (title: string, arms: ReadonlyArray<Read<Course>>): string => {
  const curves = arms.map(({ arm, courses }, index) => {
    const steps = Math.min(...courses.map((course) => course.length))
    return line(
      arm,
      index,
      Array.from({ length: steps }, (_, step) => Exact.estimate(courses.flatMap((course) => course[step] ?? [])))
    )
  })
  const steps = Math.max(0, ...curves.map(({ values }) => values.length))
  return Report.svg({ title, steps: Array.from({ length: steps }, (_, step) => step + 1), curves })
}

/** A figure of {@link TestPoint}s: an arm has a point at each step at which all its runs have one. */
export const testFigure = (arms: ReadonlyArray<Read<ReadonlyArray<TestPoint>>>): string => {
  const all = arms.flatMap(({ courses }) => courses.flatMap((course) => course.map(({ step }) => step)))
  const steps = [...new Set(all)].toSorted((a, b) => a - b)
  const curves = arms.map(({ arm, courses }, index) =>
    line(
      arm,
      index,
      steps.map((step) => {
        const found = courses.flatMap((course) => course.find((point) => point.step === step)?.em ?? [])
        return found.length === courses.length ? Exact.estimate(found) : null
      })
    )
  )
  return Report.svg({ title: "EM on test questions", steps, curves })
}

const line = (label: string, index: number, estimates: ReadonlyArray<Exact.Estimate | null>) => ({
  label,
  values: estimates.map((found) => found?.mean ?? null),
  band: estimates.map((found) => found?.ci95 ?? null),
  tone: `c${index}`
})

const reading = <A, E, R>(runs: ReadonlyArray<Runs>, read: (directory: string) => Effect.Effect<A, E, R>) =>
  Effect.forEach(runs, ({ arm, directories }) =>
    Effect.map(Effect.forEach(directories, read), (courses): Read<A> => ({ arm, courses }))
  )

/** Evaluates the kept checkpoints of finished runs; returns a figure and a table with the names of their files. */
export const tests = Effect.fn("Curves.tests")(function* <E, R>(
  host: Host<E, R>,
  runs: ReadonlyArray<Runs>,
  questions: number
) {
  const arms = yield* reading(runs, (directory) =>
    Effect.andThen(host.print([`test questions to the checkpoints of ${directory}`]), host.test(directory, questions))
  )
  return [
    { file: "test-em.svg", text: testFigure(arms) },
    { file: "test-em.json", text: `${JSON.stringify({ questions, arms }, null, 2)}\n` }
  ]
})

/** Reads the metrics of finished runs, and returns each figure with the name of its file. */
export const figures = Effect.fn("Curves.figures")(function* (
  drawings: ReadonlyArray<Drawing>,
  runs: ReadonlyArray<Runs>
) {
  const arms = yield* reading(runs, pointsOf)
  return drawings.map(({ metric, title }) => ({
    file: `${metric.replace("/", "-")}.svg`,
    text: figure(
      title,
      arms.map(({ arm, courses }) => ({
        arm,
        courses: courses.map((steps) => steps.map((one) => one[metric] ?? null))
      }))
    )
  }))
})

const Metrics = Schema.Record(Schema.String, Schema.NullOr(Schema.Finite))
const decode = Schema.decodeEffect(Schema.fromJsonString(Metrics))

/** The metrics of each step of a finished run. */
export const pointsOf = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const file = `${directory}/metrics.jsonl`
  const lines = (yield* fs.readFileString(file)).split("\n").filter((line) => line !== "")
  return yield* Effect.forEach(lines, (line, index) =>
    Effect.mapError(
      decode(line),
      (cause) => new StudyFailure({ problem: `${file}:${index + 1}: ${cause.message}`, cause })
    )
  )
})

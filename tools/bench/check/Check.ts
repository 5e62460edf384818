/**
 * `bench --check`: a quick measurement of every part, compared with the baselines of `baselines.json`. Each part runs in a
 * process of its own, one after the other.
 */
import { fileURLToPath } from "node:url"
import { Array as Arr, Console, Effect, FileSystem, Schema } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { CommandFailure } from "../../../apps/cli/src/Failure.ts"
import { Baseline, best, complaint, Figure, forgotten, judge, passes, update } from "./Comparison.ts"
import type { Name } from "./Parts.ts"
import { table } from "./Table.ts"

export interface Options {
  readonly parts: ReadonlyArray<Name>
  /** Writes what was measured into the baselines. */
  readonly update: boolean
}

/** Prints a table, and fails with a line for each figure that does not pass. */
export const check = Effect.fn("Check.check")(function* (options: Options) {
  const stored = yield* readBaselines
  const figures = (yield* Effect.forEach(options.parts, (part) => measure(part, options.update ? [] : stored))).flat()
  const baselines = options.update ? update(stored, figures) : stored
  if (options.update) yield* writeBaselines(baselines)
  const judged = figures.map((figure) => ({ figure, verdict: judge(figure, baselines) }))
  yield* Console.log(table(judged, baselines))
  const problems = [
    ...judged.flatMap(({ figure, verdict }) => complaint(figure, verdict) ?? []),
    ...forgotten(baselines, figures).map(
      ({ name, part }) =>
        `${part}: ${name} has a baseline but is not measured any more. Remove it with \`bench --check --update ${part}\`.`
    )
  ]
  if (problems.length > 0) return yield* new CommandFailure({ problem: problems.join("\n") })
})

/** The figures of a part. If some do not pass, the part is measured up to two more times, since a busy machine is not a slowdown. */
const measure = Effect.fn("Check.measure")(function* (part: Name, baselines: ReadonlyArray<Baseline>) {
  let figures = yield* measureOnce(part)
  const isDoubtful = () =>
    figures.some((figure) => {
      const verdict = judge(figure, baselines)
      return verdict._tag !== "Unknown" && !passes(verdict)
    })
  for (let chance = 0; chance < 2 && isDoubtful(); chance++)
    figures = Arr.zipWith(figures, yield* measureOnce(part), best)
  return figures
})

const measureOnce = Effect.fn("Check.measureOnce")(function* (part: Name) {
  yield* Console.error(`bench: measuring ${part}`)
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const text = yield* spawner.string(
    ChildProcess.make(process.execPath, [fileURLToPath(new URL("part.ts", import.meta.url)), part], {
      stderr: "inherit"
    })
  )
  return yield* Effect.mapError(
    decodeFigures(text),
    () => new CommandFailure({ problem: `${part} could not be measured: its process ended without figures.` })
  )
})

const decodeFigures = Schema.decodeEffect(Schema.fromJsonString(Schema.Array(Figure)))

const file = fileURLToPath(new URL("../baselines.json", import.meta.url))

const Baselines = Schema.fromJsonString(Schema.Array(Baseline))

const readBaselines = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(file))) return []
  return yield* Effect.mapError(
    Schema.decodeEffect(Baselines)(yield* fs.readFileString(file)),
    ({ message }) => new CommandFailure({ problem: `${file} does not contain baselines: ${message}` })
  )
})

/** Formatted as the formatter does. */
const writeBaselines = Effect.fnUntraced(function* (baselines: ReadonlyArray<Baseline>) {
  const fs = yield* FileSystem.FileSystem
  const rounded = baselines.map((baseline) => ({ ...baseline, value: Number(baseline.value.toPrecision(3)) }))
  yield* fs.writeFileString(file, `${JSON.stringify(rounded, null, 2)}\n`)
})

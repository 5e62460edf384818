import { Effect, Option } from "effect"
import { usageError } from "../Failure.ts"
import * as Search from "../evolve/StoredSearch.ts"
import * as Stored from "../serve/StoredPopulations.ts"

export interface ViewInput {
  readonly directories: ReadonlyArray<string>
  readonly lineage: boolean
  readonly report: Option.Option<"html" | "md">
  readonly out: Option.Option<string>
}

/** Shows a run, a search or populations, compares a run with another, shows the lineage of its instructions, or writes a report. */
export const view = Effect.fnUntraced(function* ({ directories, lineage, out, report }: ViewInput) {
  const [directory, second, third] = directories
  if (lineage && Option.isSome(report))
    return yield* usageError("--lineage and --report exclude each other. Leave out one of them.")
  if (Option.isSome(out) && Option.isNone(report))
    return yield* usageError("--out is the file of a report. Add --report html, or leave out --out.")
  const populations = directory === undefined ? [] : yield* Stored.find(directory)
  if (populations.length > 0 && directory !== undefined) {
    if (second !== undefined || Option.isSome(report))
      return yield* usageError(
        `${directory} holds served populations, which are shown one directory at a time and without --report. ` +
          "`inspo serve` shows them in a browser."
      )
    const module = yield* Effect.promise(() => import("../serve/Show.ts"))
    if (!lineage) return yield* module.show(populations)
    const place = yield* Stored.findOne(directory)
    if (place !== null) return yield* module.lineage(place)
  }
  const search = directory === undefined ? null : yield* Search.find(directory)
  if (search !== null && directory !== undefined && (second === undefined || search !== directory)) {
    if (second !== undefined || Option.isSome(report))
      return yield* usageError(
        `${directory} holds a search or a comparison, which is shown alone and without --report: a finished one has a ` +
          "report.md. `inspo dashboard` shows several in a browser."
      )
    const module = yield* Effect.promise(() => import("../evolve/Show.ts"))
    return yield* lineage ? module.lineage(directory, search) : module.show(directory, search)
  }
  if (directory !== undefined && second !== undefined && third === undefined && !lineage && Option.isNone(report)) {
    const module = yield* Effect.promise(() => import("./Diff.ts"))
    return yield* module.diff({ from: directory, to: second })
  }
  if (directory === undefined || second !== undefined)
    return yield* usageError(
      `There are ${directories.length} directories, expected one, or two to compare without --lineage and --report. ` +
        "`inspo dashboard` shows many."
    )
  if (lineage) {
    const module = yield* Effect.promise(() => import("./Lineage.ts"))
    return yield* module.lineage(directory)
  }
  if (Option.isSome(report)) {
    const module = yield* Effect.promise(() => import("../report/Write.ts"))
    return yield* module.report({ directory, format: report.value, out })
  }
  if (directory.includes(":")) {
    const { instruction } = yield* Effect.promise(() => import("./Diff.ts"))
    if (yield* instruction(directory)) return
  }
  const module = yield* Effect.promise(() => import("./Show.ts"))
  return yield* module.show(directory)
})

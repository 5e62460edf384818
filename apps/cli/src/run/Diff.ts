import { Projection } from "@inspo/analysis"
import type { RunEvent } from "@inspo/coevolution"
import type { RunConfig } from "@inspo/config"
import { PlainText } from "@inspo/domain"
import { measure } from "@inspo/reward"
import { Text } from "@inspo/report"
import { Effect, FileSystem } from "effect"
import { leafPaths, valueAt } from "../config/Resolve.ts"
import { readText } from "../config/TextFile.ts"
import { type UsageError, usageError } from "../Failure.ts"
import { compareTexts, type Named, type RunDifference, runLines, textLines } from "../report/DiffReport.ts"
import { score } from "../report/Summary.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { readRun } from "../runDirectory/Read.ts"
import * as Reporter from "../terminal/Reporter.ts"

export interface DiffInput {
  readonly from: string
  readonly to: string
}

/** Shows how two instructions differ, word by word, or how two runs differ: settings, best instruction, results. */
export const diff = Effect.fn("Diff.diff")(function* (input: DiffInput) {
  const from = yield* read(input.from)
  const to = yield* read(input.to)
  if (from._tag === "Run" && to._tag === "Run") {
    const difference = compareRuns(from, to)
    return yield* Reporter.printStyled({ kind: "runs", ...difference }, (style) => runLines(difference, style))
  }
  const difference = compareTexts(yield* textOf(from), yield* textOf(to))
  return yield* Reporter.printStyled({ kind: "instructions", ...difference }, (style) => textLines(difference, style))
})

/** Shows one instruction, named as `DIR:ID`; false if the name is something else. */
export const instruction = Effect.fn("Diff.instruction")(function* (name: string) {
  const named = yield* instructionNamed(name)
  if (named === null) return false
  yield* Reporter.print({ kind: "instruction", ...named }, (columns) => [
    PlainText.escape(named.name),
    ...Text.paragraph(named.text, "  ", columns)
  ])
  return true
})

/** What one side of a comparison names. */
type Side =
  | { readonly _tag: "Text"; readonly named: Named }
  | {
      readonly _tag: "Run"
      readonly directory: string
      readonly config: RunConfig
      readonly events: ReadonlyArray<RunEvent>
    }

type RunSide = Extract<Side, { readonly _tag: "Run" }>

/** A run by its directory, an instruction of it as `DIR:ID`, or the text of a file. */
const read = Effect.fnUntraced(function* (name: string) {
  if (yield* isRun(name)) return yield* readSide(name)
  const named = yield* instructionNamed(name)
  if (named !== null) return { _tag: "Text", named } satisfies Side
  const text = yield* Effect.catchTag(readText(name), "PlatformError", (cause) =>
    Effect.fail(
      usageError(
        `${name} is neither the directory of a run, nor DIR:ID, nor a file with a text. Check the path.`,
        cause
      )
    )
  )
  return { _tag: "Text", named: { name, text: text.trim() } } satisfies Side
})

/** A path below a file does not exist. */
const isRun = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.orElseSucceed(fs.exists(filesOf(directory).config), () => false)
})

/** The instruction of a run that is named as `DIR:ID`; null if there is no such run. */
const instructionNamed = Effect.fnUntraced(function* (name: string) {
  const [, directory, id] = /^(.+):([^:/\\]+)$/u.exec(name) ?? []
  if (directory === undefined || id === undefined || (yield* isRun(name)) || !(yield* isRun(directory))) return null
  return yield* instructionOf(yield* readSide(directory), id)
})

const readSide = (directory: string) =>
  Effect.map(readRun(directory), ({ config, events }): RunSide => ({ _tag: "Run", directory, config, events }))

const textOf = (side: Side): Effect.Effect<Named, UsageError> =>
  side._tag === "Text" ? Effect.succeed(side.named) : instructionOf(side, "best")

const instructionOf = (run: RunSide, id: string): Effect.Effect<Named, UsageError> => {
  const found = find(run, id)
  if (found !== null) return Effect.succeed(found)
  return Effect.fail(
    usageError(
      id === "best"
        ? `The run in ${run.directory} is not finished and has no best instruction yet. Name an instruction, such as ${run.directory}:i0.`
        : `The run in ${run.directory} has no instruction ${id}, expected seed, best or one of ${ids(run).join(", ")}.`
    )
  )
}

const find = (run: RunSide, id: string): Named | null => {
  const wanted = id === "seed" ? ids(run)[0] : id === "best" ? bestOf(run) : id
  const found = Projection.candidates(run.events).find((candidate) => candidate.id !== null && candidate.id === wanted)
  return found === undefined ? null : { name: `${run.directory}:${found.id}`, text: found.text }
}

const ids = ({ events }: RunSide): ReadonlyArray<string> =>
  Projection.candidates(events).flatMap(({ id }) => (id === null ? [] : [id]))

const bestOf = ({ events }: RunSide): string | undefined => events.find((event) => event._tag === "RunFinished")?.best

const compareRuns = (from: RunSide, to: RunSide): RunDifference => {
  const keys = new Set([...leafPaths(from.config), ...leafPaths(to.config)])
  const best = [find(from, "best"), find(to, "best")] as const
  return {
    from: from.directory,
    to: to.directory,
    settings: [...keys].flatMap((key) => {
      const [a, b] = [valueAt(from.config, key), valueAt(to.config, key)]
      return JSON.stringify(a) === JSON.stringify(b) ? [] : [{ key, from: a, to: b }]
    }),
    measure: measureOf(from) === measureOf(to) ? measureOf(from) : `${measureOf(from)}, ${measureOf(to)}`,
    best: best[0] === null || best[1] === null ? null : compareTexts(best[0], best[1]),
    results: (["before", "after"] as const).flatMap((policy) =>
      (["seed", "best"] as const).flatMap((instruction) => {
        const [a, b] = [resultOf(from, policy, instruction), resultOf(to, policy, instruction)]
        return a === null || b === null ? [] : [{ policy, instruction, from: a, to: b }]
      })
    )
  }
}

const measureOf = ({ config }: RunSide): string => measure(config.reward)

const resultOf = (run: RunSide, policy: "before" | "after", instruction: "seed" | "best") => {
  const id = instruction === "seed" ? ids(run)[0] : bestOf(run)
  const found = run.events.find(
    (event) => event._tag === "Evaluated" && event.policy === policy && event.instruction === id
  )
  if (found?._tag !== "Evaluated") return null
  const { ci95, em, n } = score(found.groups)
  return { em, ci95, n }
}

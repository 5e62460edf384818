import { Projection } from "@inspo/analysis"
import type { RunEvent } from "@inspo/coevolution"
import { PlainText } from "@inspo/domain"
import { Text } from "@inspo/report"
import { Effect, FileSystem } from "effect"
import { readText } from "../config/TextFile.ts"
import { type UsageError, usageError } from "../Failure.ts"
import { compareTexts, type Named, textLines } from "../report/DiffReport.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { readRun } from "../runDirectory/Read.ts"
import * as Reporter from "../terminal/Reporter.ts"

export interface DiffInput {
  readonly from: string
  readonly to: string
}

/** Shows how two instructions differ, word by word; of a run the best one. */
export const diff = Effect.fn("Diff.diff")(function* (input: DiffInput) {
  const difference = compareTexts(yield* read(input.from), yield* read(input.to))
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

interface Run {
  readonly directory: string
  readonly events: ReadonlyArray<RunEvent>
}

/** The best instruction of a run, an instruction of it as `DIR:ID`, or the text of a file. */
const read = Effect.fnUntraced(function* (name: string) {
  if (yield* isRun(name)) return yield* instructionOf(yield* runIn(name), "best")
  const named = yield* instructionNamed(name)
  if (named !== null) return named
  const text = yield* Effect.catchTag(readText(name), "PlatformError", (cause) =>
    Effect.fail(
      usageError(
        `${name} is neither the directory of a run, nor DIR:ID, nor a file with a text. Check the path.`,
        cause
      )
    )
  )
  return { name, text: text.trim() } satisfies Named
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
  return yield* instructionOf(yield* runIn(directory), id)
})

const runIn = (directory: string) => Effect.map(readRun(directory), ({ events }): Run => ({ directory, events }))

const instructionOf = (run: Run, id: string): Effect.Effect<Named, UsageError> => {
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

const find = (run: Run, id: string): Named | null => {
  const wanted = id === "seed" ? ids(run)[0] : id === "best" ? bestOf(run) : id
  const found = Projection.candidates(run.events).find((candidate) => candidate.id !== null && candidate.id === wanted)
  return found === undefined ? null : { name: `${run.directory}:${found.id}`, text: found.text }
}

const ids = ({ events }: Run): ReadonlyArray<string> =>
  Projection.candidates(events).flatMap(({ id }) => (id === null ? [] : [id]))

const bestOf = ({ events }: Run): string | undefined => events.find((event) => event._tag === "RunFinished")?.best

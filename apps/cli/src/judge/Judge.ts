/** The verb `judge`: how far the scores of a comparison can be trusted, by labels of some answers, and what those correct. */
import { interval, percent, points, textOf } from "@inspo/evolve/SearchView"
import { Cases, Compare, Judged } from "@inspo/evolve/parts"
import { plural, Text } from "@inspo/report"
import { Effect, FileSystem, Option, Schema } from "effect"
import { readNamed } from "../config/TextFile.ts"
import * as Search from "../evolve/StoredSearch.ts"
import { checked } from "../evolve/Task.ts"
import { commandFailure, oneLine, usageError } from "../Failure.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import * as Reporter from "../terminal/Reporter.ts"

export interface JudgeInput {
  readonly directory: string
  readonly count: number
  readonly seed: Option.Option<number>
}

/** Writes answers to label into a file of the comparison; reads their labels where it is there. */
export const judge = Effect.fn("Judge.judge")(function* ({ count, directory, seed }: JudgeInput) {
  if (!(Number.isSafeInteger(count) && count > 0))
    return yield* usageError(`--cases is ${count}; expected a whole number above 0.`)
  const file = yield* Search.find(directory)
  if (file === null)
    return yield* usageError(`${directory} holds no comparison; expected the --out of \`inspo compare\`.`)
  const stored = yield* Effect.mapError(Compare.read(file), (cause) => commandFailure(oneLine(cause.message), cause))
  const outputOf = (key: string) => scoredOf(stored.outputs.get(key))
  const place = `${directory}/to-label.csv`
  const fs = yield* FileSystem.FileSystem
  if (!(yield* Effect.orElseSucceed(fs.exists(place), () => false))) {
    const rows = Judged.toLabel(
      stored.state,
      count,
      Option.getOrElse(seed, () => 1)
    ).map((one) => [Judged.keyOf(one), textOf(stored.cases[one.case]), outputOf(Judged.keyOf(one)), ""])
    yield* replaceFile(place, [["key", "case", "answer", "label"], ...rows].map(line).join("\n"))
    return yield* Reporter.print({ directory, file: place, answers: rows.length }, (columns) =>
      Text.wrap(
        `${plural(rows.length, "answer")} in ${place}. Write scores from 0 to 1 into its column \`label\`, from the top on; then the ` +
          "same command says what they show.",
        columns
      )
    )
  }
  const text = yield* readNamed(place)
  const labels = yield* checked(() => {
    const rows = Cases.parseFile(place, text).filter(({ label = "" }) => label !== "")
    return new Map(
      rows.map(({ key = "", label = "" }) => {
        const score = Judged.readLabel(label)
        if (score === null || !stored.outputs.has(key))
          throw usageError(
            `${place}: ${key} has the label ${label}; expected a score from 0 to 1 of one of its answers.`
          )
        return [key, score]
      })
    )
  })
  if (labels.size === 0)
    return yield* usageError(
      `${place} has no label; expected scores from 0 to 1 in its column \`label\`, from the top on.`
    )
  const found = Judged.judged(stored.state, labels, (one) => outputOf(Judged.keyOf(one)).length)
  yield* Reporter.print({ directory, ...found }, (columns) =>
    lines(stored, found).flatMap((one) => Text.wrap(one, columns))
  )
})

const lines = (
  { result, settings, state }: Compare.StoredComparison,
  { agreement, bias, biasOfLong, biasOfShort, candidates, labels }: Judged.Judged
): ReadonlyArray<string> => [
  `${plural(labels, "label")}: the scores agree with ${percent(agreement.mean)} (from ${percent(agreement.lower)}) of them, and are ` +
    `higher by ${interval(bias)} points: ${interval(biasOfLong)} where answers are long, ${interval(biasOfShort)} where they are short.`,
  ...candidates.map(
    ({ corrected, judged, labelled, others, verdict }, at) =>
      `${Text.clip(Text.oneText(result.candidates[at]?.prompt ?? ""), 60)}: ${verdict}, with a margin of ${points(settings.margin)} points. ` +
      `The scores alone say ${points(judged)} points; ${plural(labelled, `labelled ${unitOf(state)}`)} and the scores of ${others} others, ` +
      `${interval(corrected)} at 90 %.`
  ),
  "This holds for the cases that were asked, where those with labels are a random choice of them."
]

const unitOf = ({ setup }: Compare.StoredComparison["state"]): string =>
  setup.sessions.some((session) => session !== null) ? "session" : "case"

/** What was scored of an answer with its tokens, of an agent's reply, or of any other output. */
const scoredOf = (kept: unknown): string =>
  Option.match(decodeKept(kept), {
    onNone: () => textOf(kept),
    onSome: (one) => ("text" in one ? one.text : textOf(one.output))
  })

const decodeKept = Schema.decodeUnknownOption(
  Schema.Union([Schema.Struct({ text: Schema.String, end: Schema.String }), Schema.Struct({ output: Schema.Json })])
)

const line = (cells: ReadonlyArray<string>): string => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")

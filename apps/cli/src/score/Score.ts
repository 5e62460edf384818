import { PlainText, Utf8 } from "@inspo/domain"
import {
  ScoredEpisode,
  defaultConfig,
  ResponseFormat,
  RewardError,
  type RewardFunction,
  Rewards,
  type Scope
} from "@inspo/reward"
import { Console, Effect, FileSystem, type PlatformError, Predicate, Ref, Result, Schema, Stdio, Stream } from "effect"
import { count, percent } from "@inspo/report"
import { notUtf8 } from "../config/TextFile.ts"
import { UsageError } from "../Failure.ts"
import { isClosed } from "../StandardStreams.ts"

import { parse, type Row } from "./Row.ts"

export interface ScoreInput {
  readonly file: string
  readonly reward: keyof typeof Rewards.builtIn
  readonly scope: Scope
  readonly structure: number
  readonly retrieval: number
  readonly final: number
}

/** A line of the output, and a public contract. */
export interface ScoredRow {
  readonly id: string | number
  readonly score: number | null
  readonly extracted: string | null
}

/** Scores the rows of a file one after the other, without holding it in memory; their mean goes to standard error. */
export const score = Effect.fn("Score.score")(function* (input: ScoreInput) {
  const fs = yield* FileSystem.FileSystem
  const stdio = yield* Stdio.Stdio
  const format = yield* Schema.decodeEffect(ResponseFormat.FormatScores)(input).pipe(
    Effect.mapError(
      () =>
        new UsageError({
          problem:
            `--structure-score is ${input.structure}, --retrieval-score ${input.retrieval} and --final-score ` +
            `${input.final}; expected each in [0, 1], structure + retrieval at most 1, and final at most 1 - structure.`
        })
    )
  )
  const judge = Rewards.builtIn[input.reward].make({ ...defaultConfig, format, scope: input.scope })
  const [name, bytes] = input.file === "-" ? ["standard input", stdio.stdin] : [input.file, fs.stream(input.file)]
  const scored = scoreRow(input, judge)
  const total = yield* Ref.make({ failed: 0, scored: 0, sum: 0 })

  yield* bytes.pipe(
    Stream.mapError(
      (cause) => new UsageError({ problem: `${name} cannot be read (${cause.reason._tag}). Check the path.`, cause })
    ),
    Utf8.lines,
    Stream.mapEffect(({ line, text }) =>
      Result.isSuccess(text)
        ? Effect.succeed([line, text.success] as const)
        : Effect.fail(notUtf8(name, line, text.failure))
    ),
    Stream.filter(([, text]) => text.trim() !== ""),
    Stream.mapEffect(([line, text]) =>
      Effect.fromResult(parse(name, line, text)).pipe(
        Effect.flatMap(scored),
        Effect.mapError((cause) =>
          cause._tag === "DatasetError"
            ? new UsageError({ problem: `${cause.message}.`, cause })
            : new UsageError({ problem: `${name}:${line}: ${cause.message}.`, cause })
        )
      )
    ),
    Stream.tap(({ score: found }) =>
      Ref.update(total, ({ failed, scored, sum }) =>
        found === null ? { failed: failed + 1, scored, sum } : { failed, scored: scored + 1, sum: sum + found }
      )
    ),
    Stream.map(PlainText.jsonLine),
    Stream.run(stdio.stdout({ endOnDone: false })),
    Effect.catchIf(isClosedPipe, () => Effect.void)
  )
  const whole = yield* Ref.get(total)
  const mean = whole.scored === 0 ? null : whole.sum / whole.scored
  yield* Console.error(
    `${count(whole.scored)} rows, mean ${input.reward} ${percent(mean)}` +
      (whole.failed === 0 ? "" : `; ${count(whole.failed)} failed trajectories left out`)
  )
})

const scoreRow = ({ reward, scope }: ScoreInput, judge: RewardFunction.RewardFunction) =>
  Effect.fnUntraced(function* ({ goldenAnswers, id, subject }: Row): Effect.fn.Return<ScoredRow, RewardError> {
    if (subject._tag === "Failed") return { id, score: null, extracted: null }
    const unfit = (problem: string) => new RewardError({ reward, reason: problem })
    if (subject._tag === "Trace" && scope !== "response")
      return yield* unfit(`a trace holds no prompt, expected solution_str for --scope ${scope}`)
    const measure = measureOf(reward)
    if (subject._tag === "Solution" || measure === undefined) {
      if (subject._tag === "Answer") return yield* unfit("a prediction has no format, expected solution_str")
      const attempt = subject._tag === "Trace" ? subject.attempt : attemptOf(subject.solution, goldenAnswers, scope)
      const found = yield* judge.score(attempt)
      return { id, score: found.reward, extracted: found.answer }
    }
    const { answer } = subject
    return { id, score: answer === null ? 0 : measure(answer, goldenAnswers), extracted: answer }
  })

const measureOf = (reward: ScoreInput["reward"]) =>
  reward === "em-format" ? undefined : Rewards.builtIn[reward].measure

/** Only scope `response` distinguishes the prompt from the response; the others take a solution as it is logged. */
const attemptOf = (
  solution: string,
  goldenAnswers: ReadonlyArray<string>,
  scope: Scope
): ScoredEpisode.ScoredEpisode => {
  const question = { question: "", goldenAnswers }
  return scope === "response"
    ? ScoredEpisode.fromSolution(question, solution)
    : { question, prompt: "", response: solution, turns: [] }
}

/** A reader such as `head` that wants no more lines. */
const isClosedPipe = (error: UsageError | PlatformError.PlatformError): error is PlatformError.PlatformError =>
  error._tag === "PlatformError" &&
  Predicate.hasProperty(error.reason.cause, "code") &&
  isClosed(error.reason.cause.code)

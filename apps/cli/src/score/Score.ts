import { PlainText, Utf8, FirstIssue, JsonText, Trajectory } from "@inspo/domain"
import {
  ScoredEpisode,
  defaultOptions,
  ResponseFormat,
  RewardError,
  type RewardFunction,
  Rewards,
  type Scope
} from "@inspo/reward"
import { Console, Effect, FileSystem, type PlatformError, Predicate, Ref, Result, Schema, Stdio, Stream } from "effect"
import { count, percent } from "@inspo/report"
import { notUtf8 } from "../config/TextFile.ts"
import { type UsageError, usageError } from "../Failure.ts"
import { isClosed } from "../StandardStreams.ts"
import { DatasetError } from "@inspo/datasets"

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
    Effect.mapError(() =>
      usageError(
        `--structure-score is ${input.structure}, --retrieval-score ${input.retrieval} and --final-score ` +
          `${input.final}; expected each in [0, 1], structure + retrieval at most 1, and final at most 1 - structure.`
      )
    )
  )
  const judge = Rewards.builtIn[input.reward].make({ ...defaultOptions, format, scope: input.scope })
  const [name, bytes] = input.file === "-" ? ["standard input", stdio.stdin] : [input.file, fs.stream(input.file)]
  const scored = scoreRow(input, judge)
  const total = yield* Ref.make({ failed: 0, scored: 0, sum: 0 })

  yield* bytes.pipe(
    Stream.mapError((cause) => usageError(`${name} cannot be read (${cause.reason._tag}). Check the path.`, cause)),
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
            ? usageError(`${cause.message}.`, cause)
            : usageError(`${name}:${line}: ${cause.message}.`, cause)
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

/** What a row gives to score: an answer, a solution that contains one, or the trace of a run. */
interface Row {
  readonly id: string | number
  readonly goldenAnswers: ReadonlyArray<string>
  readonly subject:
    | { readonly _tag: "Answer"; readonly answer: string }
    | { readonly _tag: "Solution"; readonly solution: string }
    | { readonly _tag: "Trace"; readonly attempt: ScoredEpisode.ScoredEpisode; readonly answer: string | null }
    | { readonly _tag: "Failed" }
}

/** Reads one line of a file to be scored; `line` counts from 1. */
export const parse = (file: string, line: number, text: string): Result.Result<Row, DatasetError> =>
  parseObject(file, line, text).pipe(
    Result.flatMap((row) => {
      const kind = (["solution_str", "transcript", "prediction"] as const).find(
        (field) => (row[field] ?? null) !== null
      )
      return kind === undefined
        ? Result.fail(
            misfit(file, line, null, null, "a row with prediction, with solution_str, or of a run's traces.jsonl")
          )
        : readers[kind](file, line, row)
    })
  )

const Answers = Schema.Union([Schema.String, Schema.Array(Schema.String)])
const Truth = Schema.Union([Answers, Schema.Struct({ target: Answers })])
const common = {
  id: Schema.Union([Schema.String, Schema.Finite]),
  golden_answers: Schema.optionalKey(Schema.NullOr(Truth)),
  ground_truth: Schema.optionalKey(Schema.NullOr(Truth)),
  goldenAnswers: Schema.optionalKey(Schema.NullOr(Answers))
}

interface Common {
  readonly id: string | number
  readonly golden_answers?: typeof Truth.Type | null
  readonly ground_truth?: typeof Truth.Type | null
  readonly goldenAnswers?: typeof Answers.Type | null
}

const reader = <S extends Schema.ConstraintDecoder<Common>>(
  schema: S,
  subject: (row: S["Type"], goldenAnswers: ReadonlyArray<string>) => Row["subject"]
) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (file: string, line: number, object: Readonly<Record<string, unknown>>): Result.Result<Row, DatasetError> =>
    Result.mapError(decode(object), (error) => firstIssue(file, line, object, error)).pipe(
      Result.flatMap((row) => {
        const truth = row.golden_answers ?? row.ground_truth ?? row.goldenAnswers ?? null
        if (truth === null)
          return Result.fail(misfit(file, line, "golden_answers", "missing", "a text or a list of texts"))
        const goldenAnswers = answersOf(truth)
        return Result.succeed({ id: row.id, goldenAnswers, subject: subject(row, goldenAnswers) })
      })
    )
}

const readers = {
  prediction: reader(Schema.Struct({ ...common, prediction: Schema.String }), ({ prediction }) => ({
    _tag: "Answer",
    answer: prediction
  })),
  solution_str: reader(Schema.Struct({ ...common, solution_str: Schema.String }), (row) => ({
    _tag: "Solution",
    solution: row.solution_str
  })),
  transcript: reader(
    Schema.Struct({
      ...common,
      answer: Schema.NullOr(Schema.String),
      finishReason: Schema.String,
      transcript: Schema.Array(Trajectory.Turn)
    }),
    ({ answer, finishReason, transcript }, goldenAnswers) =>
      finishReason === "failed"
        ? { _tag: "Failed" }
        : {
            _tag: "Trace",
            answer,
            attempt: {
              question: { question: "", goldenAnswers },
              prompt: "",
              response: transcript.map(({ observation, text }) => `${text}${observation ?? ""}`).join(""),
              turns: transcript.map(({ text }) => text)
            }
          }
  )
}

const answersOf = (truth: typeof Truth.Type): ReadonlyArray<string> =>
  typeof truth === "string" ? [truth] : "target" in truth ? answersOf(truth.target) : truth

const parseObject = (file: string, line: number, text: string) =>
  Result.try({
    // A byte order mark may open the file.
    try: (): unknown => JsonText.parse(line === 1 ? text.replace(/^\uFEFF/u, "") : text),
    catch: () => notAnObject(file, line, text)
  }).pipe(
    Result.flatMap((value) =>
      Predicate.isReadonlyObject(value) && !Array.isArray(value)
        ? Result.succeed<Readonly<Record<string, unknown>>>({ ...value })
        : Result.fail(notAnObject(file, line, text))
    )
  )

const notAnObject = (file: string, line: number, text: string) =>
  misfit(file, line, null, clip(text), "one JSON object per line")

const firstIssue = (file: string, line: number, row: unknown, { issue }: Schema.SchemaError): DatasetError => {
  const { expected, field, value } = FirstIssue.of(issue, row)
  return value === undefined
    ? misfit(file, line, field, "missing", "a value")
    : misfit(file, line, field, PlainText.json(value, 80), expected)
}

const misfit = (file: string, line: number, field: string | null, value: string | null, expected: string) =>
  new DatasetError({ file, line, field, value, expected })

const clip = (text: string): string => (text.length <= 80 ? text : `${text.slice(0, 80)}…`)

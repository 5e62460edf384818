import { DatasetError } from "@inspo/datasets"
import { FirstIssue, JsonText, PlainText, Trajectory } from "@inspo/domain"
import type { ScoredEpisode } from "@inspo/reward"
import { Predicate, Result, Schema } from "effect"

/** What a row gives to score: an answer, a solution that contains one, or the trace of a run. */
export interface Row {
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

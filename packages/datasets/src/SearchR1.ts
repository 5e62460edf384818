import { createHash } from "node:crypto"
import { Question } from "@inspo/domain"
import { Array, Effect, type FileSystem, Predicate, Result, Schema, Stream } from "effect"
import type { DatasetError } from "./DatasetError.ts"
import type { FileQuestion, Split } from "./FileQuestion.ts"
import { failure, misfit } from "./internal/failure.ts"
import * as JsonLines from "./internal/jsonLines.ts"
import * as Parquet from "./internal/parquet.ts"
import { defaultShares, type Shares } from "./Shares.ts"
import { plain } from "./internal/plain.ts"
import { trainingRow, trainingSchema } from "./internal/trainingRow.ts"

export type { FileQuestion, Message, Split } from "./FileQuestion.ts"

const Answers = Schema.Union([Schema.String, Schema.Array(Schema.String)])

/**
 * One row of a question file: the columns that the data scripts of Search-R1, DeepResearcher and verl's recipes write.
 * `question`, `golden_answers` and `data_source` are preferred; otherwise a row is read from `extra_info.question` or the
 * prompt, and from the reward model's ground truth, whose text may separate several answers by `<|answer_split|>`.
 */
export const QuestionRow = Schema.Struct({
  id: Schema.optionalKey(Schema.Union([Schema.String, Schema.Int])),
  question: Schema.optionalKey(Schema.String),
  golden_answers: Schema.optionalKey(Answers),
  data_source: Schema.optionalKey(Schema.NonEmptyString),
  /** The messages before the question, where it is asked within a conversation. */
  conversation: Schema.optionalKey(Schema.NullOr(Schema.Array(Question.Message))),
  prompt: Schema.optionalKey(Schema.Array(Schema.Struct({ role: Schema.String, content: Schema.String }))),
  reward_model: Schema.optionalKey(
    Schema.Struct({ ground_truth: Schema.Union([Answers, Schema.Struct({ target: Answers })]) })
  ),
  extra_info: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        split: Schema.optionalKey(Schema.String),
        index: Schema.optionalKey(Schema.Union([Schema.String, Schema.Int])),
        question: Schema.optionalKey(Schema.String)
      })
    )
  ),
  metadata: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        split: Schema.optionalKey(Schema.String),
        hops: Schema.optionalKey(Schema.Int),
        supporting_doc_ids: Schema.optionalKey(Schema.Array(Schema.String))
      })
    )
  )
})
export interface QuestionRow extends Schema.Schema.Type<typeof QuestionRow> {}

/** One row of a corpus file: the title in double quotes on its own line, then the text. */
export const CorpusRow = Schema.Struct({
  id: Schema.Union([Schema.NonEmptyString, Schema.Int]),
  contents: Schema.String
})
export interface CorpusRow extends Schema.Schema.Type<typeof CorpusRow> {}

/**
 * The questions of a file, Parquet if its name ends in `.parquet` and JSON lines otherwise, read on demand: row
 * group by row group, or line by line. A row without an id gets one from its data source and `extra_info`, or its line,
 * and an id that an earlier row has is prefixed with its data source, since merged sets reuse ids. A field that is null is
 * none. Rows need a question and at least one golden answer; a file needs a row.
 *
 * @example
 * ```ts
 * import { SearchR1 } from "@inspo/datasets"
 *
 * const questions = SearchR1.questions("train.parquet")
 * ```
 */
export const questions = (
  file: string,
  options: { readonly prompts?: boolean } = {}
): Stream.Stream<FileQuestion, DatasetError, FileSystem.FileSystem> =>
  Stream.mapEffect(checked(file, options), Effect.fromResult)

/** The {@link questions} of a file, with an error in place of each row that cannot be read. */
export const checked = (
  file: string,
  options: { readonly prompts?: boolean } = {}
): Stream.Stream<Result.Result<FileQuestion, DatasetError>, DatasetError, FileSystem.FileSystem> =>
  Stream.suspend(() => {
    const lines = new Map<string, number>()
    return Stream.map(
      rows(file),
      Result.flatMap(({ line, row }) =>
        decodeRow(file, line, row).pipe(
          Result.bindTo("decoded"),
          Result.bind("question", ({ decoded }) => toQuestion(file, line, decoded)),
          Result.flatMap(({ decoded, question }) => {
            const id = lines.has(question.id) ? `${question.dataSource}/${question.id}` : question.id
            return Result.map(claim(lines, file, line, id), () => ({
              ...question,
              id: Question.QuestionId.make(id),
              ...(options.prompts === true && decoded.prompt !== undefined ? { prompt: decoded.prompt } : {})
            }))
          })
        )
      )
    )
  })

/** All {@link questions} of a file. */
export const readQuestions = Effect.fn("SearchR1.readQuestions")(function* (
  file: string
): Effect.fn.Return<ReadonlyArray<FileQuestion>, DatasetError, FileSystem.FileSystem> {
  return yield* Stream.runCollect(questions(file))
})

/** Reads passages from JSON lines; ids must differ. The first line of `contents` is the title, with or without quotes. */
export const readCorpus = Effect.fn("SearchR1.readCorpus")(function* (
  file: string
): Effect.fn.Return<ReadonlyArray<Question.Passage>, DatasetError, FileSystem.FileSystem> {
  const lines = new Map<string, number>()
  return yield* nonEmpty(file, JsonLines.stream(file)).pipe(
    Stream.mapEffect(({ line, row }) =>
      Effect.fromResult(
        decodeCorpusRow(row).pipe(
          Result.mapError((error) => misfit(file, line, row, error)),
          Result.flatMap(({ contents, id }) =>
            Result.map(claim(lines, file, line, `${id}`), () => Question.passageFromContents(`${id}`, contents))
          )
        )
      )
    ),
    Stream.runCollect
  )
})

/** The columns of a question file; of JSON lines, those of the readable rows among the first thousand. */
export const columns = Effect.fn("SearchR1.columns")(function* (
  file: string
): Effect.fn.Return<ReadonlyArray<string>, DatasetError, FileSystem.FileSystem> {
  if (isParquet(file)) return (yield* Parquet.open(file)).columns
  const first = Array.getSuccesses(yield* Stream.runCollect(Stream.take(JsonLines.results(file), 1000)))
  return Array.dedupe(first.flatMap(({ row }) => (Predicate.isObject(row) ? Object.keys(row) : [])))
})

/** Writes questions as JSON lines that {@link readQuestions} can read. */
export const writeQuestions = Effect.fn("SearchR1.writeQuestions")(function* (
  file: string,
  questions: ReadonlyArray<FileQuestion>
): Effect.fn.Return<void, DatasetError, FileSystem.FileSystem> {
  yield* JsonLines.write(file, questions.map(fromQuestion))
})

/**
 * Writes a stream of questions in bounded memory, as Parquet if the name ends in `.parquet` and as JSON lines otherwise, to be
 * read by {@link questions}. Parquet gets every column that Search-R1 and verl train on: a question
 * without a prompt is asked by `instruction` and `Question: …`, and `extra_info.index` is its place in the file.
 */
export const writeStream = Effect.fn("SearchR1.writeStream")(function* <R>(
  file: string,
  questions: Stream.Stream<FileQuestion, DatasetError, R>,
  instruction: string
): Effect.fn.Return<void, DatasetError, R | FileSystem.FileSystem> {
  yield* isParquet(file)
    ? Parquet.write(
        file,
        Stream.zipWithIndex(questions).pipe(
          Stream.map(([question, index]) => trainingRow(question, index, instruction))
        ),
        trainingSchema
      )
    : JsonLines.writeStream(file, Stream.map(questions, fromQuestion))
})

/** Writes passages for {@link readCorpus}; line breaks in a title become spaces. */
export const writeCorpus = Effect.fn("SearchR1.writeCorpus")(function* (
  file: string,
  passages: ReadonlyArray<Question.Passage>
): Effect.fn.Return<void, DatasetError, FileSystem.FileSystem> {
  yield* JsonLines.write(file, passages.map(fromPassage))
})

/**
 * Splits questions by the split of their rows. Without one, a hash of the question's text decides, so that equal
 * questions stay together, and adding questions moves none of the others.
 */
export const split = (
  questions: ReadonlyArray<FileQuestion>,
  shares: Shares = defaultShares
): Readonly<Record<Split, ReadonlyArray<FileQuestion>>> => {
  const parts: Record<Split, Array<FileQuestion>> = { train: [], validation: [], test: [] }
  for (const question of questions) parts[question.split ?? hashedSplit(question.question, shares)].push(question)
  return parts
}

/** The rows of a question file, of either format, as JSON values without what is null, or the error of a line that is not JSON. */
const rows = (
  file: string
): Stream.Stream<Result.Result<JsonLines.Numbered<unknown>, DatasetError>, DatasetError, FileSystem.FileSystem> =>
  nonEmpty(
    file,
    isParquet(file)
      ? Stream.map(Stream.unwrap(parquetRows(file)), Result.succeed)
      : Stream.map(
          JsonLines.results(file),
          Result.map(({ line, row }) => ({ line, row: plain(row) }))
        )
  )

/** Whether a file is read and written as Parquet: by its name. */
export const isParquet = (file: string): boolean => file.endsWith(".parquet")

const parquetRows = Effect.fnUntraced(function* (file: string) {
  const parquet = yield* Parquet.open(file)
  const { columns } = parquet
  const has = (name: string) => columns.includes(name)
  if (!(has("question") || has("prompt")) || !(has("golden_answers") || has("reward_model"))) {
    return yield* failure({
      file,
      field: "columns",
      value: JSON.stringify(columns),
      expected: "question and golden_answers, or Search-R1's prompt and reward_model"
    })
  }
  return parquet.rows(Object.keys(QuestionRow.fields).filter(has))
})

const nonEmpty = <A, R>(file: string, stream: Stream.Stream<A, DatasetError, R>) =>
  Stream.orElseIfEmpty(stream, () => Stream.fail(failure({ file, expected: "at least one row; the file is empty" })))

const decodeRow = (file: string, line: number, row: unknown): Result.Result<QuestionRow, DatasetError> =>
  Result.mapError(decodeQuestionRow(row), (error) => misfit(file, line, row, error))

const decodeQuestionRow = Schema.decodeUnknownResult(QuestionRow)

const decodeCorpusRow = Schema.decodeUnknownResult(CorpusRow)

const claim = (
  lines: Map<string, number>,
  file: string,
  line: number,
  id: string
): Result.Result<void, DatasetError> => {
  const earlier = lines.get(id)
  if (earlier !== undefined) {
    return Result.fail(
      failure({
        file,
        line,
        field: "id",
        value: JSON.stringify(id),
        expected: `a unique id, but line ${earlier} has it already`
      })
    )
  }
  lines.set(id, line)
  return Result.void
}

const toQuestion = (file: string, line: number, row: QuestionRow): Result.Result<FileQuestion, DatasetError> => {
  const question = row.question ?? row.extra_info?.question ?? questionInPrompt(row)
  if (question === undefined || question.trim() === "") {
    return Result.fail(
      failure({
        file,
        line,
        field: "question",
        value: question === undefined ? "missing" : JSON.stringify(question),
        expected: "a question, there, in extra_info.question or in the prompt's user message"
      })
    )
  }
  const given = row.golden_answers ?? truthOf(row)
  const answers = typeof given === "string" ? [given] : (given ?? [])
  if (!Array.isReadonlyArrayNonEmpty(answers)) {
    return Result.fail(
      failure({
        file,
        line,
        field: "golden_answers",
        value: given === undefined ? "missing" : JSON.stringify(given),
        expected: "at least one answer, there or in reward_model.ground_truth"
      })
    )
  }
  const dataSource = row.data_source ?? "questions"
  const part = splitNames[row.metadata?.split ?? row.extra_info?.split ?? ""]
  return Result.succeed({
    id: Question.QuestionId.make(idOf(row, dataSource, line)),
    question: question.trim(),
    goldenAnswers: answers,
    dataSource,
    ...(row.conversation && Array.isReadonlyArrayNonEmpty(row.conversation) ? { conversation: row.conversation } : {}),
    ...(row.metadata?.hops === undefined ? {} : { hops: row.metadata.hops }),
    ...(row.metadata?.supporting_doc_ids === undefined ? {} : { supportIds: row.metadata.supporting_doc_ids }),
    ...(part === undefined ? {} : { split: part })
  })
}

const idOf = (row: QuestionRow, dataSource: string, line: number): string => {
  if (row.id !== undefined && row.id !== "") return `${row.id}`
  const { index, split = "" } = row.extra_info ?? {}
  return index === undefined ? `line-${line}` : `${dataSource}/${split}/${index}`
}

/** The answers of the reward model: a list, or a text as in DeepResearcher and verl's recipes. */
const truthOf = ({ reward_model: model }: QuestionRow): typeof Answers.Type | undefined => {
  const truth = model?.ground_truth
  return typeof truth === "string"
    ? truth.split("<|answer_split|>").filter((answer) => answer.trim() !== "")
    : truth !== undefined && "target" in truth
      ? truth.target
      : truth
}

/** What follows the first `Question: ` of the last user message, as in Search-R1's template, or else all of it. */
const questionInPrompt = ({ prompt }: QuestionRow): string | undefined => {
  const said = prompt?.findLast(({ role }) => role === "user")?.content
  return /Question: (.*)$/su.exec(said ?? "")?.[1] ?? said
}

const splitNames: Readonly<Record<string, Split | undefined>> = {
  train: "train",
  validation: "validation",
  dev: "validation",
  val: "validation",
  test: "test"
}

const fromQuestion = (question: FileQuestion) => ({
  id: question.id,
  question: question.question,
  golden_answers: question.goldenAnswers,
  data_source: question.dataSource,
  conversation: question.conversation,
  prompt: question.prompt,
  metadata: { hops: question.hops, supporting_doc_ids: question.supportIds, split: question.split }
})

const fromPassage = (passage: Question.Passage): CorpusRow => ({
  id: passage.id,
  contents: Question.contentsOf(passage)
})

const hashedSplit = (question: string, shares: Shares): Split => {
  const hash = createHash("sha256").update(question.trim()).digest().readUInt32BE(0) / 2 ** 32
  const total = shares.train + shares.validation + shares.test
  if (hash * total < shares.train) return "train"
  return hash * total < shares.train + shares.validation ? "validation" : "test"
}

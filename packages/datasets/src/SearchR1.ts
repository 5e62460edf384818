import { createHash } from "node:crypto"
import { Question } from "@inspo/domain"
import { Array, Effect, type FileSystem, Result, Schema } from "effect"
import type { DatasetError } from "./DatasetError.ts"
import * as JsonLines from "./internal/jsonLines.ts"

/** The parts of a data set. Files that call the validation part `dev` or `val` are understood. */
export type Split = "train" | "validation" | "test"

/** A question as a file holds it; `split` is there when its row says so. */
export interface FileQuestion extends Question.Question {
  readonly split?: Split
}

const Answers = Schema.Union([Schema.String, Schema.Array(Schema.String)])

/**
 * One row of a question file: the columns that Search-R1's data scripts write. `question`, `golden_answers` and
 * `data_source` are preferred; a row without them is read from the prompt and the reward model's ground truth.
 */
export const QuestionRow = Schema.Struct({
  id: Schema.optionalKey(Schema.Union([Schema.String, Schema.Int])),
  question: Schema.optionalKey(Schema.String),
  golden_answers: Schema.optionalKey(Answers),
  data_source: Schema.optionalKey(Schema.NonEmptyString),
  prompt: Schema.optionalKey(Schema.Array(Schema.Struct({ role: Schema.String, content: Schema.String }))),
  reward_model: Schema.optionalKey(Schema.Struct({ ground_truth: Schema.Struct({ target: Answers }) })),
  extra_info: Schema.optionalKey(
    Schema.NullOr(Schema.Struct({ split: Schema.optionalKey(Schema.String), index: Schema.optionalKey(Schema.Int) }))
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

/** One row of a corpus file: the title in double quotes and on a line of its own, then the text. */
export const CorpusRow = Schema.Struct({
  id: Schema.Union([Schema.NonEmptyString, Schema.Int]),
  contents: Schema.String
})
export interface CorpusRow extends Schema.Schema.Type<typeof CorpusRow> {}

/**
 * Reads questions from JSON lines. A row without an id gets its `extra_info` or its line as one, and an id that an
 * earlier row has is put behind its data source, since merged sets reuse ids. Rows need a question and at least one
 * golden answer.
 *
 * @example
 * ```ts
 * import { SearchR1 } from "@inspo/datasets"
 *
 * const questions = SearchR1.readQuestions("train.jsonl")
 * ```
 */
export const readQuestions = Effect.fn("SearchR1.readQuestions")(function* (
  file: string
): Effect.fn.Return<ReadonlyArray<FileQuestion>, DatasetError, FileSystem.FileSystem> {
  const lines = new Map<string, number>()
  const questions: Array<FileQuestion> = []
  for (const { line, row } of yield* readQuestionRows(file)) {
    const question = yield* Effect.fromResult(toQuestion(file, line, row))
    const id = lines.has(question.id) ? `${question.dataSource}/${question.id}` : question.id
    yield* claim(lines, file, line, id)
    questions.push({ ...question, id: Question.QuestionId.make(id) })
  }
  return questions
})

/** Reads passages from JSON lines; ids must differ. The first line of `contents` is the title, with or without quotes. */
export const readCorpus = Effect.fn("SearchR1.readCorpus")(function* (
  file: string
): Effect.fn.Return<ReadonlyArray<Question.Passage>, DatasetError, FileSystem.FileSystem> {
  const lines = new Map<string, number>()
  const passages: Array<Question.Passage> = []
  for (const { line, row } of yield* readCorpusRows(file)) {
    const id = `${row.id}`
    yield* claim(lines, file, line, id)
    passages.push({ id, ...toPassage(row.contents) })
  }
  return passages
})

/** Writes questions so that {@link readQuestions} gives them back. */
export const writeQuestions = Effect.fn("SearchR1.writeQuestions")(function* (
  file: string,
  questions: ReadonlyArray<FileQuestion>
): Effect.fn.Return<void, DatasetError, FileSystem.FileSystem> {
  yield* JsonLines.write(file, questions.map(fromQuestion))
})

/** Writes passages so that {@link readCorpus} gives them back; line breaks in a title become spaces. */
export const writeCorpus = Effect.fn("SearchR1.writeCorpus")(function* (
  file: string,
  passages: ReadonlyArray<Question.Passage>
): Effect.fn.Return<void, DatasetError, FileSystem.FileSystem> {
  yield* JsonLines.write(file, passages.map(fromPassage))
})

/** The share of each part when {@link split} has to choose; relative to their sum. */
export interface Shares {
  readonly train: number
  readonly validation: number
  readonly test: number
}

export const defaultShares: Shares = { train: 0.8, validation: 0.1, test: 0.1 }

/**
 * Parts questions as their rows say. Where they say nothing, a hash of the question's text decides, so that equal
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

const readQuestionRows = JsonLines.read(QuestionRow)

const readCorpusRows = JsonLines.read(CorpusRow)

const claim = (lines: Map<string, number>, file: string, line: number, id: string) => {
  const earlier = lines.get(id)
  if (earlier !== undefined) {
    return Effect.fail(
      JsonLines.failure({
        file,
        line,
        field: "id",
        value: JSON.stringify(id),
        expected: `an id of its own, but line ${earlier} has it already`
      })
    )
  }
  lines.set(id, line)
  return Effect.void
}

const toQuestion = (file: string, line: number, row: QuestionRow): Result.Result<FileQuestion, DatasetError> => {
  const question = row.question ?? questionInPrompt(row)
  if (question === undefined || question.trim() === "") {
    return Result.fail(
      JsonLines.failure({
        file,
        line,
        field: "question",
        value: question === undefined ? "missing" : JSON.stringify(question),
        expected: `a question, or a prompt whose user message ends in "Question: …"`
      })
    )
  }
  const given = row.golden_answers ?? row.reward_model?.ground_truth.target
  const answers = typeof given === "string" ? [given] : (given ?? [])
  if (!Array.isReadonlyArrayNonEmpty(answers)) {
    return Result.fail(
      JsonLines.failure({
        file,
        line,
        field: "golden_answers",
        value: given === undefined ? "missing" : JSON.stringify(given),
        expected: "at least one answer, there or in reward_model.ground_truth.target"
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

/** What follows the first `Question: ` of the last user message: where Search-R1's template puts the question. */
const questionInPrompt = (row: QuestionRow): string | undefined =>
  /Question: (.*)$/su.exec(row.prompt?.findLast((message) => message.role === "user")?.content ?? "")?.[1]

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
  metadata: { hops: question.hops, supporting_doc_ids: question.supportIds, split: question.split }
})

const toPassage = (contents: string): { readonly title: string; readonly text: string } => {
  const end = contents.indexOf("\n")
  const heading = end < 0 ? contents : contents.slice(0, end)
  // Quotes within a quoted title are doubled.
  const title = /^"(?:[^"]|"")*"$/u.test(heading) ? heading.slice(1, -1).replaceAll('""', '"') : heading
  return { title, text: end < 0 ? "" : contents.slice(end + 1) }
}

const fromPassage = (passage: Question.Passage): CorpusRow => ({
  id: passage.id,
  contents: `"${passage.title.replaceAll(/\s*\n\s*/gu, " ").replaceAll('"', '""')}"\n${passage.text}`
})

const hashedSplit = (question: string, shares: Shares): Split => {
  const hash = createHash("sha256").update(question.trim()).digest().readUInt32BE(0) / 2 ** 32
  const total = shares.train + shares.validation + shares.test
  if (hash * total < shares.train) return "train"
  return hash * total < shares.train + shares.validation ? "validation" : "test"
}

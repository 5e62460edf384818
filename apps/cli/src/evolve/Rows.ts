/** Test cases from the rows of a file. */
import { Question } from "@inspo/domain"
import { Judged, Protected } from "@inspo/evolve/parts"
import { Option, Schema } from "effect"
import { usageError } from "../Failure.ts"
import { type Case, type Check, fault, type Job } from "./Job.ts"

export type Row = Readonly<Record<string, string>>

export interface Columns {
  /** The column with the user message; null for `input` if there is one, else all columns but the expected answer. */
  readonly input: string | null
  readonly expected: string
  /** All columns are the input, also where one is named `input`. */
  readonly isWhole?: boolean
}

/** How an answer is scored; without the answer that is expected, which is in the row. */
export type Scoring =
  | { readonly kind: "built-in"; readonly scorer: Extract<Check, { readonly kind: "built-in" }>["scorer"] }
  | Exclude<Check, { readonly kind: "built-in" | "promptfoo" | "label" }>

/** The jobs of the rows of a file. Throws a `UsageError` that names row and column. */
export const jobs = (
  file: string,
  rows: ReadonlyArray<Row>,
  columns: Columns,
  scoring: Scoring | null
): ReadonlyArray<Job> =>
  rows.map((row, index) => {
    const refuse = (column: string, expected: string): never => {
      const value = row[column]
      throw usageError(
        value === undefined
          ? `${file}, row ${index + 1}: there is no column "${column}"; expected ${expected}. Columns: ${Object.keys(row).join(", ")}.`
          : `${file}, row ${index + 1}, column "${column}" is ${JSON.stringify(value.slice(0, 80))}; expected ${expected}.`
      )
    }
    const last = inputOf(row, columns)
    if (last === null || last.trim() === "")
      return refuse(columns.input ?? "input", "the text that is put to the model")
    const earlier = earlierOf(row[conversation])
    if (earlier === null) return refuse(conversation, 'messages such as [{"role": "user", "content": "Hello"}]')
    const input = Question.conversationText({ conversation: earlier, question: last })
    const messages = [
      ...earlier.map(({ content, role }) => ({ role, text: content })),
      { role: "user" as const, text: last }
    ]
    const expected = row[columns.expected]
    if (!Protected.isMarked(row))
      return refuse("protected", "true or false; give a column that means something else another name")
    const session = row["session"]?.trim() ?? ""
    const fields = columns.isWhole === true ? fieldsOf(row, columns) : {}
    const about = {
      input,
      ...fields,
      ...(Protected.isProtected(row) ? { protected: true } : {}),
      ...(session === "" ? {} : { session })
    }
    if (scoring?.kind !== "built-in")
      return {
        case: { ...about, ...(expected === undefined ? {} : { expected }) },
        row,
        asked: { messages },
        checks: scoring === null ? [] : [scoring]
      }
    if (expected === undefined || expected.trim() === "") return refuse(columns.expected, "the expected answer")
    const check = { ...scoring, expected }
    const problem = fault(check)
    return problem === null
      ? { case: { ...about, expected }, row, asked: { messages }, checks: [check] }
      : refuse(columns.expected, problem)
  })

/**
 * The jobs of a judge whose rubric is the prompt: the answers that have a label, in a file of `inspo judge`. Throws a `UsageError` that names
 * row and column. The judge is asked as it was in the comparison; the answers to one case, or to its session, are a session.
 */
export const labelled = (file: string, rows: ReadonlyArray<Row>, columns: Columns): ReadonlyArray<Job> =>
  rows.flatMap((row, index) => {
    const { answer, [columns.input ?? "case"]: about, [columns.expected]: label } = row
    if (label?.trim() === "") return []
    const exact = label === undefined ? null : Judged.readLabel(label)
    if (label === undefined || exact === null || about === undefined || answer === undefined)
      throw usageError(
        `${file}, row ${index + 1}: the label is ${JSON.stringify(label ?? null)}; expected a score from 0 to 1, and the columns that ` +
          `\`inspo judge\` writes: case, answer, label. Columns: ${Object.keys(row).join(", ")}.`
      )
    const known = Option.getOrElse(decodeCase(about), (): Case => ({ input: about }))
    const { expected = null, input, session = about } = known
    const shown = [
      ["case", input],
      ...(expected === null ? [] : [["expected", expected] as const]),
      ["answer", answer]
    ] as const
    return [
      {
        case: { input: lines(shown), expected: label, session },
        row,
        asked: { judged: { input, expected, output: answer } },
        checks: [{ kind: "label" as const, label: exact }]
      }
    ]
  })

/** A case as a comparison keeps it. */
const decodeCase = Schema.decodeOption(
  Schema.fromJsonString(
    Schema.Struct({
      input: Schema.String,
      expected: Schema.optionalKey(Schema.String),
      session: Schema.optionalKey(Schema.String)
    })
  )
)

/** The user message of a row; null if the column that was named is missing. */
const inputOf = (row: Row, { expected, input, isWhole = false }: Columns): string | null => {
  if (input !== null) return row[input] ?? null
  const isAlone = Object.keys(row).every((name) => ["input", expected, ...marks].includes(name))
  if (row["input"] !== undefined && (isAlone || !isWhole)) return row["input"]
  return lines(Object.entries(row).filter(([name]) => ![expected, conversation, ...marks].includes(name)))
}

/** What an agent outside gets besides the input: without it, two cases would seem to be one. */
const fieldsOf = (row: Row, { expected, input }: Columns): Pick<Case, "fields"> => {
  const others = Object.entries(row).filter(([name]) => ![input, expected, conversation, ...marks].includes(name))
  return input === null || others.length === 0 ? {} : { fields: Object.fromEntries(others) }
}

/** The columns that say something of a case, and are no part of it. */
const marks = ["protected", "session"]

/** The column with the messages before the input, as JSON. */
const conversation = "conversation"

/** The messages of a column; none if it is missing or empty, null if they cannot be read. */
const earlierOf = (column = ""): ReadonlyArray<Question.Message> | null =>
  column.trim() === "" ? [] : Option.getOrNull(decodeConversation(column))

const decodeConversation = Schema.decodeOption(Schema.fromJsonString(Schema.Array(Question.Message)))

/** Named values, one a line. */
export const lines = (values: ReadonlyArray<readonly [name: string, value: string]>): string =>
  values.map(([name, value]) => `${name}: ${value}`).join("\n")

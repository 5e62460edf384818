import { Option, Schema } from "effect"

/** One answer, as a line of JSON. Numbers of instructions count from 0. */
export const Answer = Schema.Struct({
  task: Schema.String,
  instruction: Schema.Int,
  question: Schema.String,
  reward: Schema.Finite,
  answer: Schema.NullOr(Schema.String),
  promptTokens: Schema.Int,
  responseTokens: Schema.Int,
  text: Schema.String
})
export interface Answer extends Schema.Schema.Type<typeof Answer> {}

/** The first line of a file of answers: the hash of the settings behind them. */
const Header = Schema.Struct({ gate: Schema.String })

/** The content of a file of answers. */
export interface Records {
  readonly gate: string
  readonly answers: ReadonlyArray<Answer>
}

/** Reads a file of answers, without an incomplete last line; null without a first line. The failure is the number of a broken line. */
export const parse = (text: string): Records | { readonly brokenLine: number } | null => {
  const [first, ...rest] = text.split("\n").slice(0, -1)
  if (first === undefined) return null
  const header = decodeHeader(first)
  if (Option.isNone(header)) return { brokenLine: 1 }
  const answers: Array<Answer> = []
  for (const [index, line] of rest.entries()) {
    const answer = decodeAnswer(line)
    if (Option.isNone(answer)) return { brokenLine: index + 2 }
    answers.push(answer.value)
  }
  return { ...header.value, answers }
}

/** The text of such a file. */
export const write = ({ answers, gate }: Records): string => `${JSON.stringify({ gate })}\n${lines(answers)}`

/** The lines of answers, to append to such a file. */
export const lines = (answers: ReadonlyArray<Answer>): string =>
  answers.map((answer) => `${encodeAnswer(answer)}\n`).join("")

const decodeHeader = Schema.decodeUnknownOption(Schema.fromJsonString(Header))
const decodeAnswer = Schema.decodeUnknownOption(Schema.fromJsonString(Answer))
const encodeAnswer = Schema.encodeSync(Schema.fromJsonString(Answer))

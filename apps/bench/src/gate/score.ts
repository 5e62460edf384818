/** The program of a reward (`reward.command`): `score.ts words`, `parts` or `calculated`, after `Measures.ts`. */
import { createInterface } from "node:readline"
import { Schema } from "effect"
import { answered, measures } from "./Measures.ts"

const decodeMeasure = Schema.decodeUnknownSync(Schema.Literals(["words", "parts", "calculated"]))
const decodeLine = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      golden_answers: Schema.Array(Schema.String),
      response: Schema.String,
      answer: Schema.NullOr(Schema.String)
    })
  )
)

const measure = measures[decodeMeasure(process.argv[2])]
for await (const line of createInterface({ input: process.stdin })) {
  const { answer, golden_answers, response } = decodeLine(line)
  process.stdout.write(`${measure(answered(response, answer), golden_answers)}\n`)
}

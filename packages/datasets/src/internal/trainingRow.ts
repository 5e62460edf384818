import type { FileQuestion } from "../FileQuestion.ts"
import type { Schema } from "./parquet.ts"

/** The row that Search-R1's and verl's trainers expect of a question. */
export const trainingRow = (question: FileQuestion, index: number, instruction: string) => ({
  id: question.id,
  question: question.question,
  golden_answers: question.goldenAnswers,
  data_source: question.dataSource,
  conversation: question.conversation ?? null,
  prompt: question.prompt ?? [
    ...(question.conversation ?? []),
    { role: "user", content: `${instruction} Question: ${question.question}\n` }
  ],
  ability: "fact-reasoning",
  reward_model: { style: "rule", ground_truth: { target: question.goldenAnswers } },
  extra_info: { split: question.split ?? "", index },
  metadata: {
    split: question.split ?? null,
    hops: question.hops ?? null,
    supporting_doc_ids: question.supportIds ?? null
  }
})

const text = (name: string): Schema["elements"][number] => ({
  name,
  type: "BYTE_ARRAY",
  converted_type: "UTF8",
  repetition_type: "OPTIONAL"
})

const integer = (name: string): Schema["elements"][number] => ({ name, type: "INT32", repetition_type: "OPTIONAL" })

const struct = (name: string, fields: number): Schema["elements"][number] => ({
  name,
  num_children: fields,
  repetition_type: "OPTIONAL"
})

/** The two levels above the elements of a list; the element itself follows. */
const list = (name: string): Schema["elements"] => [
  { name, num_children: 1, repetition_type: "OPTIONAL", converted_type: "LIST" },
  { name: "list", num_children: 1, repetition_type: "REPEATED" }
]

const texts = (name: string): Schema["elements"] => [...list(name), text("element")]

const columns = [
  ["id", [text("id")]],
  ["question", [text("question")]],
  ["golden_answers", texts("golden_answers")],
  ["data_source", [text("data_source")]],
  ["conversation", [...list("conversation"), struct("element", 2), text("content"), text("role")]],
  ["prompt", [...list("prompt"), struct("element", 2), text("content"), text("role")]],
  ["ability", [text("ability")]],
  ["reward_model", [struct("reward_model", 2), struct("ground_truth", 1), ...texts("target"), text("style")]],
  ["extra_info", [struct("extra_info", 2), integer("index"), text("split")]],
  ["metadata", [struct("metadata", 3), text("split"), integer("hops"), ...texts("supporting_doc_ids")]]
] as const

/** The columns of {@link trainingRow}. */
export const trainingSchema: Schema = {
  columns: columns.map(([name]) => name),
  elements: [{ name: "schema", num_children: columns.length }, ...columns.flatMap(([, elements]) => elements)]
}

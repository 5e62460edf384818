import { assert, describe, it } from "@effect/vitest"
import { JsonText } from "@inspo/domain"
import { Result, Schema } from "effect"
import { parse } from "../../src/score/Score.ts"

const read = (row: unknown): unknown => Result.getOrThrow(parse("rows.jsonl", 7, JSON.stringify(row)))

const fault = (text: string) =>
  Result.match(parse("rows.jsonl", 7, text), { onSuccess: () => "", onFailure: ({ message }) => message })

const Answers = Schema.Array(Schema.String)
const Id = Schema.Union([Schema.String, Schema.Finite])

describe("a row to be scored", () => {
  it.prop("says its golden answers in any of the known ways", [Id, Schema.String, Answers], ([id, text, golden]) => {
    const expected = {
      id: JsonText.parse(JSON.stringify(id)),
      goldenAnswers: golden,
      subject: { _tag: "Answer", answer: text }
    }
    for (const truth of [
      { golden_answers: golden },
      { ground_truth: golden },
      { ground_truth: { target: golden } },
      { golden_answers: null, ground_truth: golden, solution_str: null, transcript: null },
      { golden_answers: golden, ground_truth: "another" }
    ])
      assert.deepStrictEqual(read({ id, prediction: text, ...truth, more: [1] }), expected)
  })

  it.prop("may have one golden answer as a text", [Schema.String, Schema.String], ([solution, golden]) => {
    assert.deepStrictEqual(read({ id: 1, solution_str: solution, ground_truth: { target: golden } }), {
      id: 1,
      goldenAnswers: [golden],
      subject: { _tag: "Solution", solution }
    })
  })

  it("keeps an id that no number holds", () => {
    const text = '{"id": 9007199254740993, "prediction": "a", "golden_answers": "b"}'
    const id = Result.map(parse("rows.jsonl", 1, text), (row) => row.id)
    assert.deepStrictEqual(id, Result.succeed("9007199254740993"))
  })

  it("may be a trace, whose words and observations stay apart", () => {
    const turn = {
      text: "<search> q</search>",
      action: { kind: "search", content: "q" },
      observation: "<information>x"
    }
    const last = { text: "<answer> a</answer>", action: { kind: "answer", content: "a" }, observation: null }
    const trace = { id: "t", answer: "a", finishReason: "answered", transcript: [turn, last], goldenAnswers: ["a"] }
    assert.deepStrictEqual(read(trace), {
      id: "t",
      goldenAnswers: ["a"],
      subject: {
        _tag: "Trace",
        answer: "a",
        attempt: {
          question: { question: "", goldenAnswers: ["a"] },
          prompt: "",
          response: "<search> q</search><information>x<answer> a</answer>",
          turns: [turn.text, last.text]
        }
      }
    })
    const failed = { id: "t", goldenAnswers: ["a"], subject: { _tag: "Failed" } }
    assert.deepStrictEqual(read({ ...trace, finishReason: "failed" }), failed)
  })

  it("is understood behind a byte order mark", () => {
    assert.isTrue(Result.isSuccess(parse("rows.jsonl", 1, `\ufeff{"id":1,"prediction":"a","golden_answers":[]}`)))
  })

  it.each([
    ["no JSON", `{"id":1,`, `rows.jsonl:7: {"id":1,; expected one JSON object per line`],
    ["no object", `[1]`, "rows.jsonl:7: [1]; expected one JSON object per line"],
    ["no subject", `{"id":1,"answer":"a"}`, "rows.jsonl:7: expected a row with prediction"],
    ["no id", `{"prediction":"a","golden_answers":[]}`, "rows.jsonl:7: id is missing"],
    ["no truth", `{"id":1,"prediction":"a"}`, "rows.jsonl:7: golden_answers is missing; expected a text or a list"],
    ["a number", `{"id":1,"prediction":3,"golden_answers":[]}`, "rows.jsonl:7: prediction is 3; expected string"],
    [
      "a wrong item",
      `{"id":1,"prediction":"","golden_answers":["a",null]}`,
      "golden_answers.1 is null; expected string"
    ],
    ["a wrong target", `{"id":1,"solution_str":"","ground_truth":{"target":1}}`, "ground_truth.target is 1"]
  ])("with %s is an error that names the place", (_, text, message) => {
    assert.include(fault(text), message)
  })
})

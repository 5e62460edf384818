import { assert, describe, it } from "@effect/vitest"
import { AnswerExtraction, SearchR1 } from "@inspo/reward"
import { Schema } from "effect"

const Content = Schema.String.check(Schema.isPattern(/^[^<>]*$/))
const Passage = Schema.Array(
  Schema.Literals([" a fact", "<answer>", "</answer>", "<think>", "<search>", "<information>"])
)

describe("extractAnswer", () => {
  it.prop("takes the last pair, whatever is around it", [Content, Content, Content, Content], (texts) => {
    const [before, first, last, after] = texts
    const response = `${before}<answer>${first}</answer>${after}<answer>${last}</answer>${after}`
    assert.strictEqual(
      AnswerExtraction.extractAnswer(response),
      AnswerExtraction.extractAnswer(`<answer>${last}</answer>`)
    )
  })

  it.prop("finds nothing without a closed pair", [Content, Content], ([a, b]) => {
    assert.isNull(AnswerExtraction.extractAnswer(`${a}<answer>${b}`))
    assert.isNull(AnswerExtraction.extractAnswer(`${a}</answer>${b}<answer>`))
  })

  it.prop("does not let unclosed tags swallow text", [Content, Content, Content], ([a, b, answer]) => {
    assert.strictEqual(
      AnswerExtraction.extractAnswer(`${a}<answer>${b}<answer>${answer}</answer>${a}<answer>`),
      AnswerExtraction.extractAnswer(`<answer>${answer}</answer>`)
    )
  })

  it.prop("does not see what observations hold", [Content, Passage, Content], ([a, pieces, answer]) => {
    const observation = `<information>${pieces.join("")}</information>`
    assert.isNull(AnswerExtraction.extractAnswer(`${a}${observation}${a}`))
    assert.isNull(AnswerExtraction.extractAnswer(`${a}${observation}<answer>${answer}</answer></information>`))
    assert.strictEqual(
      AnswerExtraction.extractAnswer(`${a}${observation}<answer>${answer}</answer>${observation}`),
      AnswerExtraction.extractAnswer(`<answer>${answer}</answer>`)
    )
  })

  it("reads on where an observation that was cut ends", () => {
    const cut = "<information> Doc 1 is about <answer> tags"
    assert.strictEqual(AnswerExtraction.extractAnswer(`${cut}<think> Ah.</think><answer> Ulva</answer>`), "Ulva")
    assert.isNull(AnswerExtraction.extractAnswer(`${cut}<answer> Ulva</answer>`))
  })

  it("strips white space as Python does, and spans lines", () => {
    assert.strictEqual(AnswerExtraction.extractAnswer("<answer>\x1c a\nb\ufeff \x85</answer>"), "a\nb\ufeff")
  })

  it("takes time that grows with the text, not with its square", () => {
    const spam = ["<answer>", "<information>", "</information>", "<answer></answer>"].map((tag) => tag.repeat(50_000))
    for (const text of spam) AnswerExtraction.extractAnswer(text)
  })
})

describe("splitSolution", () => {
  const markers = [
    "<|im_start|>assistant\n",
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "<start_of_turn>model\n",
    "<｜Assistant｜>",
    "<|assistant|>"
  ]

  it.prop(
    "cuts behind the last marker, and loses nothing",
    [Schema.Array(Schema.Literals(markers)), Content],
    (texts) => {
      const [opened, response] = texts
      const solution = `${opened.map((marker) => `${marker}text`).join("")}${markers[0]}${response.trimStart()}`
      const found = AnswerExtraction.splitSolution(solution)
      assert.strictEqual(found.prompt + found.response, solution)
      assert.strictEqual(found.response, response.trimStart())
    }
  )

  it("takes a text without a marker for the response", () => {
    assert.deepStrictEqual(AnswerExtraction.splitSolution("<answer>a</answer>"), {
      prompt: "",
      response: "<answer>a</answer>"
    })
  })
})

describe("verlFactor", () => {
  it("takes three quarters off beyond ten opening or ten closing tags", () => {
    const tags = (opening: number, closing: number) => "<answer>".repeat(opening) + "</answer>".repeat(closing)
    assert.deepStrictEqual([tags(10, 10), tags(11, 0), tags(0, 11)].map(SearchR1.verlFactor), [1, 0.25, 0.25])
  })
})

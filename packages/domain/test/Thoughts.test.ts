import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Thoughts } from "@inspo/domain"

const Piece = Schema.Literals(["<think>", "</think>", "<thinking>", "</thinking>", "<ins_1>", "</ins_1>", "word", "\n"])

describe("strip", () => {
  it.each([
    ["<think>a</think>b", "b"],
    ["  <THINK>a</THINK>\n b ", "b "],
    ["<thinking>a</thinking>b", "b"],
    ["<think>a <think> b </think> c</think>d", "d"],
    ["<think>the tag </think> ends it</think>d", "ends it</think>d"],
    ["<think>never closed", ""],
    ["<think>a <think> b </think>c", "c"],
    ["thoughts without a beginning</think><ins_1>a", "<ins_1>a"],
    ["Is it a bug? No.\n</think>\n\nbilling", "billing"],
    ["only thoughts </think>", ""],
    ["a <think> b </think> c", "a <think> b </think> c"],
    ["[THINK]Is it a bug? No.[/THINK]billing", "billing"],
    ["Is it a bug? No.[/THINK]billing", "billing"],
    ["[THINK]never closed", ""],
    ["<seed:think>a</seed:think>b", "b"],
    ["◁think▷a◁/think▷b", "b"],
    ["<|START_THINKING|>a<|END_THINKING|>b", "b"],
    ["<|channel>thought\na<channel|>b", "b"],
    ["<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", "b"],
    ["a<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>{}", "{}"],
    ["<|channel|>analysis<|message|>never closed", ""],
    ["<|start|>assistant<|channel|>commentary<|message|>a<|end|>", ""],
    ["analysisIs it a bug? No.assistantfinalbilling", "billing"],
    ["an analysis of [x] and <y>", "an analysis of [x] and <y>"],
    ["", ""]
  ])("makes %j to %j", (answer, expected) => {
    assert.strictEqual(Thoughts.strip(answer), expected)
  })

  it.prop(
    "leaves an end of the answer, and an answer without tags of thoughts as it is",
    [Schema.Array(Piece)],
    ([pieces]) => {
      const answer = pieces.join("")
      assert.isTrue(answer.endsWith(Thoughts.strip(answer)))
      if (!/think/u.test(answer)) assert.strictEqual(Thoughts.strip(answer), answer)
    }
  )

  it("keeps what follows an end without a beginning only if that can be the answer", () => {
    const isAnswer = (rest: string) => rest.includes("<ins_1>")
    assert.strictEqual(Thoughts.strip("a</think><ins_1>b", isAnswer), "<ins_1>b")
    assert.strictEqual(
      Thoughts.strip("<ins_1>close </think> here</ins_1>", isAnswer),
      "<ins_1>close </think> here</ins_1>"
    )
  })

  it.prop("takes away balanced thoughts whatever follows", [Schema.Array(Piece)], ([pieces]) => {
    const rest = `x${pieces.join("")}`
    assert.strictEqual(Thoughts.strip(`<think>a <think>b</think> c</think>\n${rest}`), rest)
  })
})

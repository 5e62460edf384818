import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Thoughts } from "../src/index.ts"

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
    ["a stray </think> and no candidate", "a stray </think> and no candidate"],
    ["a <think> b </think> c", "a <think> b </think> c"],
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

  it.prop("takes away balanced thoughts whatever follows", [Schema.Array(Piece)], ([pieces]) => {
    const rest = `x${pieces.join("")}`
    assert.strictEqual(Thoughts.strip(`<think>a <think>b</think> c</think>\n${rest}`), rest)
  })
})

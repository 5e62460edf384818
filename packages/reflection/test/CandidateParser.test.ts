import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { CandidateParser } from "../src/index.ts"

const Text = Schema.Literals([
  "A",
  "Put a query between <search> and </search>.",
  "Two\n\nparagraphs",
  "with `code` and a < b",
  "ünïcödé 😀"
])
const Part = Schema.Struct({
  text: Text,
  fence: Schema.Literals(["", "```\n", "```text\n"]),
  closing: Schema.Literals(["</ins_#>", "</INS_#>", "< / ins_# >", ""]),
  prose: Schema.Literals(["", "\n\n", "\nBecause it never searched.\n"])
})

describe("parse", () => {
  it.prop(
    "reads every candidate by its number, however the answer is laid out",
    [Schema.Array(Part), Schema.Natural],
    ([parts, rotation]) => {
      const written = parts.map(({ closing, fence, prose, text }, i) => {
        const fenced = fence === "" ? text : `${fence}${text}\n\`\`\``
        // Prose after an unclosed candidate would belong to it.
        return `<ins_${i + 1}>${fenced}${closing.replace("#", String(i + 1))}${closing === "" ? "" : prose}`
      })
      const turn = parts.length === 0 ? 0 : rotation % parts.length
      const parsed = CandidateParser.parse(
        `It fails.\n${[...written.slice(turn), ...written.slice(0, turn)].join("\n")}`
      )
      assert.deepStrictEqual(parsed, { critique: "It fails.", texts: parts.map(({ text }) => text) })
    }
  )

  const Fragment = Schema.Literals([
    "<ins_1>",
    "</ins_1>",
    "<ins_2>",
    "</ins_2>",
    "<ins_0>",
    "```",
    "\n",
    " ",
    "a",
    "<search>"
  ])

  it.prop(
    "never leaves a tag or white space around a candidate, whatever the answer",
    [Schema.Array(Fragment)],
    ([answer]) => {
      for (const text of CandidateParser.parse(answer.join("")).texts) {
        assert.notMatch(text, /<\/?ins_/)
        assert.strictEqual(text, text.trim())
      }
    }
  )

  it.each([
    ["nothing", "I cannot help with that.", []],
    ["the parent", "<ins_0>P</ins_0><ins_1>A</ins_1>", ["A"]],
    ["tags named before they are used", "I write <ins_1></ins_1>. <ins_1>A</ins_1>", ["A"]],
    ["a correction", "<ins_1>A</ins_1> No, better: <ins_1>B</ins_1>", ["B"]],
    ["an empty repetition", "<ins_1>A</ins_1> <ins_1> </ins_1>", ["A"]],
    ["an empty candidate", "<ins_1></ins_1><ins_2>B</ins_2>", ["", "B"]],
    ["a gap in the numbers", "<ins_7>B</ins_7><ins_3>A</ins_3>", ["A", "B"]],
    ["numbers of two digits", "<ins_10>B</ins_10><ins_9>A</ins_9>", ["A", "B"]],
    ["a fence around everything", "```xml\n<ins_1>A</ins_1>\n<ins_2>B\n```", ["A", "B"]],
    ["the closing tag of another candidate", "<ins_1>A</ins_2> prose <ins_2>B</ins_2>", ["A", "B"]]
  ])("reads %s", (_, answer, texts) => {
    assert.deepStrictEqual(CandidateParser.parse(answer).texts, texts)
  })

  it("takes a time that is linear in an answer, whatever is in it", () => {
    const began = performance.now()
    assert.deepStrictEqual(CandidateParser.parse(`<${" ".repeat(200_000)}`).texts, [])
    assert.isBelow(performance.now() - began, 1000)
  })
})

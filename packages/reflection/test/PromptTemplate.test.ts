import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { Prompts, PromptTemplate } from "../src/index.ts"

const values = {
  parent: "PARENT {{format}} $& $1",
  examples: "EXAMPLES",
  history: "HISTORY",
  method: "METHOD",
  count: "6",
  tags: "TAGS",
  format: "FORMAT {{parent}}"
}
const message = (kind: PromptTemplate.PromptKind, text: string) =>
  Result.match(PromptTemplate.parse(kind, "mine.txt", text), {
    onSuccess: () => "fine",
    onFailure: (error) => error.message
  })

describe("parse", () => {
  it.each(PromptTemplate.PromptKind.literals)("takes the %s prompt that ships", (kind) => {
    assert.strictEqual(message(kind, Prompts.shipped[kind].text), "fine")
  })

  it("names the placeholder that it does not know", () => {
    assert.strictEqual(
      message("paraphrase", "{{parent}} {{format}} {{ failures }}"),
      "prompt mine.txt: it holds {{failures}}, expected only {{parent}}, {{format}}, {{count}}, {{tags}} in a paraphrase " +
        "prompt; remove or rename it"
    )
    assert.include(message("history", "{{history}} {{format}} {{examples}}"), "{{examples}}")
    assert.include(message("paraphrase", "{{parent}} {{format}} {{}}"), "{{}}")
  })

  it.each([
    "Study these attempts and write <ins_1>…</ins_1>.",
    "Write each revision as <INS_i> … </INS_i>.",
    "{{parent}} {{examples}} between <ins_1> and </ins_1>",
    "{{format}}"
  ])("takes a prompt whose answer can be read: %s", (text) => {
    assert.strictEqual(message("reflection", text), "fine")
  })

  it("says that an answer could not be read", () => {
    assert.strictEqual(
      message("reflection", "{{parent}} {{examples}}"),
      "prompt mine.txt: it holds neither {{format}} nor a tag such as <ins_1>, expected one of them, since candidates are read from it"
    )
  })
})

describe("render", () => {
  const Piece = Schema.Literals(["{{parent}}", "{{ format }}", "{{count}}", "text", "{", "}}", "$&", "\n"])

  it.prop("puts each value in the place of its name, once and as it is", [Schema.Array(Piece)], ([pieces]) => {
    const filled = PromptTemplate.render({ kind: "paraphrase", text: pieces.join("|") }, values)
    const expected = pieces.map((piece) =>
      piece === "{{parent}}"
        ? values.parent
        : piece === "{{ format }}"
          ? values.format
          : piece === "{{count}}"
            ? "6"
            : piece
    )
    assert.strictEqual(filled, expected.join("|"))
  })
})

describe("the prompts that ship", () => {
  it.each(PromptTemplate.PromptKind.literals)("have the structure of the %s proposer", (kind) => {
    const text = PromptTemplate.render(Prompts.shipped[kind], {
      ...values,
      format: Prompts.format(kind, ["search", "answer"], 2)
    })
    assert.match(text, /<ins_1>…<\/ins_1>\n<ins_2>…<\/ins_2>\n$/u)
    assert.include(text, "<search>…</search>, <answer>…</answer>")
    assert.strictEqual(text.includes("<ins_0>\nPARENT"), kind !== "history")
    assert.strictEqual(text.includes("EXAMPLES"), kind === "reflection")
    assert.strictEqual(text.includes("HISTORY"), kind !== "paraphrase")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Tool } from "@inspo/rollout"
import { ToolText } from "@inspo/mcp"
import { Result, Schema } from "effect"

describe("a tool as text", () => {
  it.prop("its tag is a tag, of a name with a letter in it", { name: Schema.String }, ({ name }) => {
    const tag = ToolText.tagOf(name)
    assert.strictEqual(Tool.isName(tag) || Tool.reserved.includes(tag), /[a-z]/iu.test(name), tag)
  })

  it.prop(
    "a JSON object is its arguments, whatever it holds",
    { given: Schema.Record(Schema.String, Schema.Json) },
    ({ given }) => {
      const read = ToolText.argumentsOf({ name: "t", inputSchema: { type: "object" } }, JSON.stringify(given))
      assert.strictEqual(JSON.stringify(Result.getOrThrow(read)), JSON.stringify({ ...given }))
    }
  )

  it.prop(
    "plain text is the one text that a tool takes",
    { name: Schema.NonEmptyString, input: Schema.String },
    ({ input, name }) => {
      if (input.startsWith("{") || name === "__proto__") return
      const tool = {
        name: "t",
        inputSchema: { type: "object" as const, properties: { [name]: { type: "string" } }, required: [name] }
      }
      assert.deepStrictEqual(ToolText.argumentsOf(tool, input), Result.succeed({ [name]: input }))
    }
  )

  it("what is not a text is named by its kind", () => {
    assert.strictEqual(
      ToolText.replyOf({
        content: [
          { type: "text", text: "Here." },
          { type: "image", data: "AAAA", mimeType: "image/png" },
          { type: "resource_link", uri: "file:///a", name: "a" }
        ]
      }),
      "Here.\n[image/png]\nfile:///a"
    )
    for (const texts of [[], [""], [" ", "\n"]]) {
      const content = texts.map((text) => ({ type: "text" as const, text }))
      assert.strictEqual(ToolText.replyOf({ content, structuredContent: { sum: 5 } }), '{"sum":5}')
    }
    assert.strictEqual(ToolText.replyOf({ content: [{ type: "text", text: "5" }], structuredContent: { sum: 5 } }), "5")
  })
})

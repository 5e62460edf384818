import { assert, describe, it } from "@effect/vitest"
import { ActionParser } from "@inspo/rollout"
import { Schema } from "effect"

/** Blocks and single tags, so that turns are often nearly valid. */
const Fragment = Schema.Literals([
  "<think> Who?</think>",
  "<search> Ostrel Bay</search>",
  "<answer> Ostrel Bay\n</answer>",
  "<think>",
  "</think>",
  "<search>",
  "</search>",
  "<answer>",
  "</answer>",
  "<information>",
  "</information>",
  " x < y"
])
const Turn = Schema.Array(Fragment)

const Kind = Schema.Literals(["search", "answer"])
const Plain = Schema.Literals([" Ostrel Bay", "x", " a < b > c ", "Who?\n", " <b>"])

const words = "(?:(?!</?(?:think|search|information|answer)>)[^])*"
const grammar = new RegExp(
  `^(?:${words}</think>)?(?:${words}<think>${words}</think>)*${words}<(?<kind>search|answer)>(?<content>${words})</\\k<kind>>`
)

describe("ActionParser", () => {
  it.prop(
    "reads what is between the tags, after thoughts that are closed",
    [Kind, Plain, Plain],
    ([kind, thought, content]) => {
      const action = { kind, content: content.trim() }
      for (const before of [
        "",
        `<think>${thought}</think>`,
        `${thought}</think>`,
        `<think>${thought}</think>${thought}`
      ])
        assert.deepStrictEqual(ActionParser.parse(`${before}<${kind}>${content}</${kind}>`), action)
    }
  )

  it.prop(
    "agrees with the grammar of a turn",
    [Turn],
    ([fragments]) => {
      const text = fragments.join("")
      const groups = grammar.exec(text)?.groups
      const content = groups?.["content"]?.trim() ?? ""
      assert.deepStrictEqual<unknown>(ActionParser.parse(text), {
        kind: content === "" ? "invalid" : groups?.["kind"],
        content
      })
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop("what follows the first closing tag of an action changes nothing", [Turn, Turn], ([fragments, more]) => {
    const text = fragments.join("")
    if (!ActionParser.stop.some((stop) => text.includes(stop))) return
    assert.deepStrictEqual(ActionParser.parse(text + more.join("")), ActionParser.parse(text))
  })

  it.prop("no closing tag, no action", [Turn], ([fragments]) => {
    const open = fragments.join("").replace(/<\/(?:search|answer)>/g, "")
    assert.strictEqual(ActionParser.parse(open).kind, "invalid")
  })

  it("refuses unclosed, nested, crossed, empty and foreign tags", () => {
    for (const text of [
      "<think> I could <search> it</think><search> x</search>",
      "<think> open<search> x</search>",
      "<search> a<search> b</search>",
      "<search> a</answer>",
      "<answer> <search> x</search></answer>",
      "<search> </search>",
      "<answer></answer>",
      "</search><answer> x</answer>",
      "<information> mine</information><answer> x</answer>",
      "<think></think></think><answer> x</answer>"
    ])
      assert.deepStrictEqual(ActionParser.parse(text), { kind: "invalid", content: "" }, text)
  })
})

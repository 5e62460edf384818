/** @module-tag deep */
/** Whatever models write, the report of a search holds none of it as markup, and nothing for a terminal. */
import { PlainText } from "@inspo/domain"
import { evolve, type EvolveOptions } from "@inspo/evolve"
import * as fc from "fast-check"
import { marked } from "marked"
import { assert, describe, it } from "vitest"

/** Pieces that are markup, or that take over a terminal, among any others. */
const piece = fc.oneof(
  fc.constantFrom(
    "\u001b[31m",
    "\u001b]0;owned\u0007",
    "\u009b31m",
    "\u202e",
    "<img src=x onerror=alert(1)>",
    "<!-- ",
    "</details>",
    "![x](http://evil.example/a.png)",
    "[x](javascript:alert(1))",
    "[x]: http://evil.example",
    "<http://evil.example>",
    "http://evil.example",
    "www.evil.example",
    "a@evil.example",
    "&lt;b&gt;",
    "# ",
    "- ",
    "1. ",
    "> ",
    "---",
    "===",
    "```",
    "~~~",
    "`",
    "**",
    "|",
    "\\",
    "    ",
    "\t",
    "\n",
    "\n\n",
    "\r\n",
    "words"
  ),
  fc.string({ unit: "binary", maxLength: 3 })
)
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""))

const harmless = new Set([
  "blockquote",
  // Spaces at the end of a line.
  "br",
  "codespan",
  "del",
  "escape",
  "heading",
  "list",
  "list_item",
  "paragraph",
  "space",
  "strong",
  "table",
  "text"
])

const titles =
  /^(?:A better|No better prompt|Undecided|What (?:changed|was tested|went wrong)|Prompts that were tried|Cases that still fail)/u

describe("the report of a search", () => {
  it("holds no markup of a model, and nothing for a terminal", async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(text, text, text, async (prompt, output, sentence) => {
        const options: EvolveOptions<
          string | { readonly [name: string]: string },
          { id: number; text: string },
          string
        > = {
          prompt: prompt.length % 2 === 0 ? `Do it. ${prompt}` : { [`part ${output}`]: `Do it. ${prompt}` },
          cases: Array.from({ length: 20 }, (_, id) => ({ id, text: output })),
          agent: (asked, { id }) => `${JSON.stringify(asked).includes("Well.") && id % 5 > 0 ? "right" : ""}${output}`,
          score: (answer) => Number(answer.startsWith("right")),
          proposer: [`Well. ${sentence}`],
          budget: { calls: 40 }
        }
        const { finalist, report } = await evolve(options)
        const page = report()
        assert.deepStrictEqual(PlainText.hiddenIn(page), [])
        void marked.walkTokens(marked.lexer(page), (token) => {
          assert.isTrue(harmless.has(token.type), `${token.type}: ${token.raw}\n${page}`)
          if (token.type === "heading") assert.match(token.text, titles)
        })
        compared += finalist === null ? 0 : 1
      }),
      { numRuns: 40 }
    )
    assert.isAbove(compared, 5)
  })

  it("is not reached by an agent that fails: its message holds nothing for a terminal", async () => {
    await fc.assert(
      fc.asyncProperty(text, async (said) => {
        const search = evolve({
          prompt: "Do it.",
          cases: Array.from({ length: 20 }, (_, id) => ({ id })),
          agent: () => {
            throw new Error(`no: ${said}`)
          },
          score: () => 0,
          proposer: ["x"],
          budget: { calls: 30 },
          retries: 0
        })
        const message = await search.then(
          () => "no failure",
          (error) => (error instanceof Error ? error.message : "")
        )
        assert.include(message, "the agent failed on case")
        assert.deepStrictEqual(PlainText.hiddenIn(message), [])
      })
    )
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Markdown } from "@inspo/report"

describe("a table", () => {
  it("aligns figures to the right and texts to the left", () => {
    const [, line] = Markdown.table([
      ["", "score", "95 % interval", "text", "parent", "calls"],
      ["a", "83.0 %", "[70.1 %, 91.0 %]", "Answer in 3 words.", "", "1,200"],
      ["b", "+1.5", "–", "12", "i1", ""]
    ])
    assert.strictEqual(line, "|---|---:|---:|---|---|---:|")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { proportion } from "@inspo/statistics/Exact"
import { markdown, type PruningResult } from "../src/PruningResult.ts"

const result: PruningResult = {
  bench: "pruning",
  seed: 1,
  batchSize: 64,
  groupSize: 5,
  correlation: 0.3,
  steps: 15,
  pruneEvery: 5,
  decisionSteps: 300,
  worlds: [
    {
      description: "One is better",
      means: [0.4, 0.3],
      rules: [{ rule: "bottom-half", delta: null, lost: proportion(25, 100), found: proportion(75, 100), left: 1 }],
      needs: [
        {
          delta: 0.05,
          batchSize: 64,
          lost: proportion(0, 40),
          decided: proportion(9, 40),
          medianSteps: null,
          left: 4
        },
        {
          delta: 0.05,
          batchSize: 512,
          lost: proportion(0, 40),
          decided: proportion(40, 40),
          medianSteps: 65,
          left: 1
        }
      ]
    }
  ]
}

describe("markdown", () => {
  const lines = markdown(result).split("\n")

  it("has a row for every rule and every decision, each as wide as its head", () => {
    const rows = lines.filter((line) => line.startsWith("| ") && !line.startsWith("| rule"))
    assert.lengthOf(rows, 3)
    const heads = lines.filter((line) => line.startsWith("| rule")).map((line) => line.split("|").length)
    assert.deepStrictEqual(
      rows.map((line) => line.split("|").length),
      [heads[0], heads[1], heads[1]]
    )
  })

  it("shows shares in percent with their intervals, and missing decisions", () => {
    assert.include(lines, "| bottom-half | 100 | 25.0 % | [16.9, 34.7] | 1 | 75.0 % | [65.3, 83.1] |")
    assert.isTrue(lines.some((line) => line.includes("not decided within 300 steps | 22.5 %")))
    assert.isTrue(lines.some((line) => line.includes("| 512 | 40 | 65 | 100.0 %")))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { proportion } from "@inspo/statistics/Exact"
import { markdown, type VerificationResult } from "../src/VerificationResult.ts"

const result: VerificationResult = {
  bench: "verification",
  seed: 1,
  simulations: 100,
  parent: 0.35,
  correlation: 0.3,
  interimEvery: 10,
  worlds: [
    {
      description: "Two candidates",
      differences: [-0.1, 0],
      rules: [
        {
          rule: "all 200 questions",
          rollouts: { n: 100, mean: 600, ci95: null },
          saved: 0,
          wrong: proportion(25, 100),
          clonesAccepted: null
        }
      ]
    }
  ],
  overheads: [{ preset: "paper", reuse: false, train: 1000, expected: 14, most: 70 }]
}

describe("markdown", () => {
  const lines = markdown(result).split("\n")

  it("has rows as wide as their heads", () => {
    const widths = lines.filter((line) => line.startsWith("| ")).map((line) => line.split("|").length)
    assert.deepStrictEqual(widths, [9, 9, 9, 9])
  })

  it("shows shares in percent with their intervals, a dash for missing values, and the sign of a difference", () => {
    assert.include(lines, "| all 200 questions | 600 | 0.0 % | 25.0 % | [16.9, 34.7] | - | - |")
    assert.include(lines, "| paper | false | 1,000 | 14 | 1.4 % | 70 | 7.0 % |")
    assert.include(lines, "Differences to the parent: -0.1, 0.")
  })
})

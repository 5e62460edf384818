import { assert, describe, it } from "@effect/vitest"
import { Exact } from "@inspo/statistics"
import * as Pair from "../src/simulation/Pair.ts"
import { Struct } from "effect"
import { markdown, type PruningResult } from "../src/PruningResult.ts"

const budget = { steps: 15, questions: 64, groupSize: 5 }
const result: PruningResult = {
  bench: "pruning",
  seed: 1,
  contests: [
    {
      title: "One is better",
      budget,
      rows: [
        {
          name: "paper",
          rule: "halving",
          lost: Exact.proportion(25, 100),
          lostAfter: [Exact.proportion(30, 100), Exact.proportion(25, 100)],
          removed: Exact.proportion(20, 100),
          regret: Exact.estimate([0.01, 0.03]),
          left: 1,
          sure: null
        },
        {
          name: null,
          rule: "knows",
          lost: Exact.proportion(5, 100),
          lostAfter: null,
          removed: null,
          regret: null,
          left: null,
          sure: null
        }
      ]
    }
  ],
  calibrated: [{ rule: "evidence", right: Exact.proportion(19, 20) }],
  needed: [{ rule: "halving", rollouts: null, points: [{ rollouts: 4800, lost: Exact.proportion(25, 100) }] }],
  decided: [
    {
      world: "+5",
      rule: "evidence",
      limit: 9600,
      rollouts: 4800,
      decided: Exact.proportion(40, 40),
      removed: Exact.proportion(0, 40)
    }
  ],
  separated: Struct.keys(Pair.designs).map((design) => ({
    gap: 0.05,
    design,
    simulations: 100,
    shown: 2700,
    removed: null,
    wrong: Exact.proportion(1, 100)
  })),
  drifted: [{ estimate: "lifetime", biases: [{ steps: 1, bias: Exact.estimate([0.08, 0.06]) }] }],
  evolved: [
    {
      rule: "evidence",
      rollouts: 19_200,
      verification: Exact.estimate([0, 0]),
      training: Exact.estimate([0.04, 0.06]),
      returned: Exact.estimate([0.1, 0.1]),
      best: Exact.estimate([0.12, 0.12])
    }
  ]
}

describe("markdown", () => {
  const lines = markdown(result).split("\n")

  it("has rows as wide as the head of their table", () => {
    const tables = markdown(result)
      .split("\n\n")
      .filter((part) => part.startsWith("|"))
      .map((part) =>
        part
          .trimEnd()
          .split("\n")
          .map((line) => line.split("|").length)
      )
    assert.lengthOf(tables, 7)
    for (const widths of tables) assert.lengthOf(new Set(widths), 1)
  })

  it("shows shares in percent with their intervals, values in points, and a dash for what is missing", () => {
    assert.include(lines, "| halving | 100 | 25.0 % | [16.9, 34.7] | 20.0 % | 2.00 | 1 |")
    assert.include(lines, "| knows | 100 | 5.0 % | [1.6, 11.3] | – | – | – |")
    assert.include(lines, "| halving | 100 | more than 4,800 | 25.0 % |")
    assert.include(lines, `| 5.0 ${"| 2,700 / > 39,440 ".repeat(4)}|`)
    assert.include(lines, "| lifetime | 7.0 |")
    assert.include(lines, "| evidence | 2 | 19,200 | 0 | 5.00 | 10.00 | [10.0, 10.0] | 12.00 |")
  })
})

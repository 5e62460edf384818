import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Struct } from "effect"
import * as Pair from "../../src/simulation/Pair.ts"

const simulations = (gap: number, design: Pair.Design) => Arr.makeBy(40, (seed) => Pair.simulate(gap, design, seed))
const median = (outcomes: ReadonlyArray<Pair.Outcome>) =>
  outcomes.map(({ removedAt }) => removedAt ?? Infinity).toSorted((a, b) => a - b)[outcomes.length / 2] ?? Infinity

describe("two instructions", () => {
  it("are separated with fewer rollouts on shared questions than on their own", () => {
    const [own, shared] = (["5 samples, own questions", "5 samples, shared questions"] as const).map((design) =>
      median(simulations(0.2, design))
    )
    assert.isBelow(shared ?? Infinity, own ?? 0)
  })

  it("keep the better one, and repeat with the same seed", () => {
    for (const design of Struct.keys(Pair.designs)) {
      const outcomes = simulations(0.2, design)
      assert.isAtMost(outcomes.filter(({ wrong }) => wrong).length, 2, design)
      assert.isBelow(median(outcomes), 2000, design)
      assert.deepStrictEqual(Pair.simulate(0.2, design, 3), outcomes[3])
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Array as Arr } from "effect"
import { pairs } from "../src/compare/Agents.ts"
import { margin, rowOf, simulate } from "../src/CompareErrors.ts"

const simulations = 60
/** 5 % and three standard deviations. */
const most = 0.05 + 3 * Math.sqrt((0.05 * 0.95) / simulations)

describe("the errors of comparisons", () => {
  it.each(pairs)("are at most 5 % for each claim, at any stopping: $name", (pair) => {
    for (const difference of [-margin, 0]) {
      const all = Arr.makeBy(simulations, (seed) => simulate(pair, difference, seed))
      const { held, wrong } = rowOf(pair, difference, all)
      for (const { share } of Object.values(wrong)) assert.isAtMost(share, most)
      assert.isAtLeast(held.share, 0.9 - 3 * Math.sqrt(0.09 / simulations))
    }
  })
})

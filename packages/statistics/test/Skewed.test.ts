import { assert, describe, it } from "@effect/vitest"
import { RandomStream } from "@inspo/domain"
import { Moments, Skewed } from "@inspo/statistics"
import { Array as Arr } from "effect"

const simulations = 400
const most = 0.05 + 3 * Math.sqrt((0.05 * 0.95) / simulations)
const costs = (seed: number, count: number) => {
  const stream = RandomStream.make(seed, ["costs"])
  return Arr.makeBy(count, () => -Math.log(1 - stream.next()))
}

describe("bounds of the mean of numbers without bounds", () => {
  it("are below the mean of skewed costs in at most 5 %, after one look or at any of many", () => {
    const below = (values: ReadonlyArray<number>, errors: number) =>
      Skewed.upperBound(Skewed.spreadOf(values), errors) < 1
    const once = Arr.makeBy(simulations, (seed) => below(costs(seed, 40), Skewed.once(41, 0.05)))
    assert.isAtMost(once.filter(Boolean).length / simulations, most)
    const ever = Arr.makeBy(simulations, (seed) => {
      const all = costs(seed, 300)
      return Arr.makeBy(27, (look) => 30 + 10 * look).some((count) =>
        below(all.slice(0, count), Skewed.anytime(count + 1, 0.05))
      )
    })
    assert.isAtMost(ever.filter(Boolean).length / simulations, most)
  })

  it("are those of the numbers and of one more, twice as far above their mean as the farthest", () => {
    const values = costs(1, 50)
    const { farthest, mean } = Skewed.spreadOf(values)
    const all = [...values, mean + 2 * farthest]
    const error = Moments.deviation(all, 0) / Math.sqrt(50)
    assert.approximately(Skewed.upperBound(Skewed.spreadOf(values), 2), Moments.mean(all) + 2 * error, 1e-12)
  })
})

import { Array as Arr, Order } from "effect"

/**
 * Deals jobs to at most `lanes` lanes of nearly equal cost: the dearest job first, each to the cheapest lane so far.
 * Returns the indices of each lane's jobs; no lane is empty.
 */
export const deal = (costs: ReadonlyArray<number>, lanes: number): ReadonlyArray<ReadonlyArray<number>> => {
  const dealt = Array.from({ length: Math.min(lanes, costs.length) }, () => ({ cost: 0, indices: new Array<number>() }))
  const byCost = Arr.sort(
    costs.map((cost, index) => ({ cost, index })),
    Order.mapInput(Order.flip(Order.Number), (job: { readonly cost: number }) => job.cost)
  )
  for (const { cost, index } of byCost) {
    const lane = dealt.reduce((cheapest, lane) => (lane.cost < cheapest.cost ? lane : cheapest))
    lane.cost += cost
    lane.indices.push(index)
  }
  return dealt.map((lane) => lane.indices)
}

import { assert, describe, it } from "@effect/vitest"
import { Settings } from "@inspo/cohorts"
import { Server } from "./support/Server.ts"

/** Milliseconds of processor time for each reward of one request with so many. */
const costOf = (count: number): number => {
  const server = new Server(Settings.trainer(1), ["Answer.", "Think, then answer."])
  const leases = server.lease(
    0,
    Array.from({ length: count }, (_, key) => `${key}`),
    "train"
  )
  const before = process.threadCpuUsage()
  server.reward(
    1,
    leases.map(({ lease }) => ({ lease, value: 1 }))
  )
  const { system, user } = process.threadCpuUsage(before)
  return (system + user) / 1000 / count
}

/** The least of some: garbage of earlier tests is collected in any of them. */
const leastCostOf = (count: number): number => Math.min(...Array.from({ length: 3 }, () => costOf(count)))

describe("a reward", { tags: "deep" }, () => {
  it("costs about the same in a large request as in a small one", () => {
    costOf(1000)
    // Work in proportion to the square of the rewards would cost 16 times as much.
    assert.isAtMost(leastCostOf(32_000), 6 * leastCostOf(2000))
  })
})

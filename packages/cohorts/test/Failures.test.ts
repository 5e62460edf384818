import { assert, describe, it } from "@effect/vitest"
import { Settings, snapshot, type State } from "@inspo/cohorts"
import { RandomStream } from "@inspo/domain"
import { Array as Arr } from "effect"
import { changed } from "./support/Changed.ts"
import { Server } from "./support/Server.ts"

/** 30 cohorts of 64 samples: the variant is 20 points better, and `lost` of the samples of each have this instead of a reward. */
const after = (
  lost: { readonly as: State.RewardValue | "missing"; readonly seed: number; readonly variant: number },
  missingRewards: Settings.Settings["missingRewards"] = "worst"
) => {
  const luck = RandomStream.make(3, ["failures"])
  const server = new Server({ ...changed(Settings.trainer(1), { evolveEvery: 0, pruneEvery: 0 }), missingRewards }, [
    "seed",
    "variant"
  ])
  for (let now = 1; now <= 30; now++) {
    const cohort = `train/${now}`
    const leases = server.lease(
      now,
      Arr.makeBy(64, (index) => `${index}`),
      cohort
    )
    server.reward(
      now,
      leases.flatMap(({ instruction, lease }) => {
        const isLost = luck.next() < (instruction === "i0" ? lost.seed : lost.variant)
        const value = luck.next() < (instruction === "i0" ? 0.35 : 0.55) ? 1 : 0
        if (!isLost) return [{ lease, value }]
        return lost.as === "missing" ? [] : [{ lease, value: lost.as }]
      })
    )
    server.do({ _tag: "Close", now, cohort, groups: null })
  }
  return { incumbent: server.state.learning.incumbent.id, shown: snapshot(server.strategies, server.state), server }
}

describe("a failed environment", () => {
  it("is no evidence on the instruction, as an instruction that was never used", () => {
    for (const as of [null, "abandoned"] as const) {
      const { incumbent, shown } = after({ as, seed: 0.2, variant: 0.2 })
      assert.strictEqual(incumbent, "i1")
      for (const { missing } of shown.members) assert.strictEqual(missing, 0)
      assert.isNull(shown.failuresDiffer)
    }
  })

  it("is counted, and forbids decisions where it happens more often under one instruction than under another", () => {
    const { incumbent, shown } = after({ as: null, seed: 0.05, variant: 0.4 })
    assert.strictEqual(incumbent, "i0")
    assert.isNull(shown.ahead?.rewardsNeeded)
    assert.isTrue(shown.members.every(({ failed }) => failed > 0))
    assert.deepEqual([shown.failuresDiffer?.more.id, shown.failuresDiffer?.less.id], ["i1", "i0"])
    assert.approximately(shown.failuresDiffer?.more.share ?? 0, 0.4, 0.05)
  })
})

describe("a missing reward", () => {
  it("forbids a decision that it could overturn, and is left out where rewards are missing at random", () => {
    const lost = { as: "missing", seed: 0.25, variant: 0.25 } as const
    assert.strictEqual(after(lost).incumbent, "i0")
    const { incumbent, shown } = after(lost, "random")
    assert.strictEqual(incumbent, "i1")
    assert.isEmpty(shown.missingRewardsForbid)
    for (const { missing } of shown.members) assert.approximately(missing, 0.25, 0.05)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Settings, Shares, snapshot } from "@inspo/cohorts"
import { Instruction, RandomStream } from "@inspo/domain"
import { Array as Arr } from "effect"
import { changed } from "./support/Changed.ts"
import { Server } from "./support/Server.ts"

describe("segments", () => {
  it("are never pooled: a member that is better in each is not beaten by one that got the easier work (Simpson's paradox)", () => {
    const luck = RandomStream.make(2, ["segments"])
    const server = new Server(changed(Settings.trainer(5), { pruneEvery: 0, evolveEvery: 0 }), ["seed", "variant"])
    const worth = (stratum: string, instruction: string) =>
      (stratum === "easy" ? 0.85 : 0.25) + (instruction === "i1" ? 0.1 : 0)
    for (let now = 1; now <= 60; now++) {
      // The seed gets most of the cohorts with easy work: its shares are larger there.
      const isEasy = now % 2 === 0
      const share = isEasy ? 0.1 : 0.9
      const cohort = `train/${now}`
      const requests = Arr.makeBy(40, (place) => ({
        key: `${place}`,
        n: 1,
        stratum: isEasy === place < 38 ? "easy" : "hard",
        sticky: null,
        question: null,
        instructions: 1
      }))
      server.state = withShare(server, share)
      const { answer } = server.do({ _tag: "Lease", now, cohort, phase: "train", isFullBatch: false, requests })
      if (answer._tag !== "Leases") continue
      server.reward(
        now,
        answer.leases.map(({ instruction, key, lease }) => {
          const stratum = requests.find((one) => one.key === key)?.stratum ?? ""
          return { lease, value: luck.next() < worth(stratum, instruction) ? 1 : 0 }
        })
      )
      server.do({ _tag: "Close", now, cohort, groups: null })
    }
    const [seed, variant] = snapshot(server.strategies, server.state).members
    assert.isAbove(seed?.mean ?? 0, variant?.mean ?? 1, "the paradox is there")
    assert.isAbove(variant?.difference?.lower ?? 0, 0)
    assert.approximately(variant?.difference?.mean ?? 0, 0.1, 0.06)
  })
})

describe("a ramp of newcomers", () => {
  it("begins with its first share at the entry of the newest newcomer, and takes a step with each closed cohort", () => {
    const settings = changed(Settings.trainer(5), { pruneEvery: 0, evolveEvery: 0 })
    const sampler = { ...settings.sampler, newcomerShare: [0.01, 0.05, 0.25] as const }
    const server = new Server({ ...settings, sampler }, ["seed"])
    const add = (content: string) => server.do({ _tag: "Add", now: 0, content, parent: null })
    const shareAfter = (cohort: string) => {
      server.reward(
        1,
        server
          .lease(
            1,
            Arr.makeBy(20, (key) => `${key}`),
            cohort
          )
          .map(({ lease }) => ({ lease, value: 0.5 }))
      )
      const { shares = [] } = server.state.cohorts.find(({ name }) => name === cohort) ?? {}
      server.do({ _tag: "Close", now: 2, cohort, groups: null })
      return shares.filter(({ id }) => id !== "i0").reduce((sum, { probability }) => sum + probability, 0)
    }
    add("newcomer")
    const first = Arr.makeBy(4, (place) => shareAfter(`train/${place}`))
    for (const [place, share] of [0.01, 0.05, 0.25, 0.25].entries())
      assert.approximately(first[place] ?? 0, share, 1e-9)
    add("another")
    assert.approximately(shareAfter("train/again"), 0.01, 1e-9)
  })
})

/** The same state, whose next cohort gives the variant such a share. */
const withShare = (server: Server, share: number): Server["state"] => {
  const { settings } = server.state
  const values = server.strategies.valuation.values(server.state.learning.population)
  const drawn = Shares.shares(settings.sampler, server.state.learning, values)
  assert.lengthOf(drawn, 2)
  const stats = Object.fromEntries(
    Object.entries(server.state.learning.stats).map(([id, one]) => [id, { ...one, isNewcomer: id === "i1" }])
  )
  return {
    ...server.state,
    settings: {
      ...settings,
      sampler: { ...settings.sampler, newcomerShare: share, seedShare: 1 - share }
    },
    learning: {
      ...server.state.learning,
      stats,
      incumbent: {
        ...server.state.learning.incumbent,
        id: Instruction.InstructionId.make("i0"),
        why: "nothing separates"
      }
    }
  }
}

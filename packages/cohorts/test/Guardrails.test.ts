import { assert, describe, it } from "@effect/vitest"
import { fold, Guardrails, PopulationEvent, SampleRatio, Settings, snapshot, Strategies } from "@inspo/cohorts"
import { RandomStream } from "@inspo/domain"
import { Array as Arr, Schema } from "effect"
import * as fc from "fast-check"
import { chooseParents } from "@inspo/evolution"
import { context } from "../src/internal/Decisions.ts"
import { changed } from "./support/Changed.ts"
import { plain } from "./support/Plain.ts"
import { Server } from "./support/Server.ts"

const settings = (guardrails: ReadonlyArray<string>) => ({
  ...changed(Settings.online(3), { pruneEvery: 0, evolveEvery: 0 }),
  sampler: { instructionsPerQuestion: 1, newcomerShare: 1, seedShare: 0.2 },
  guardrails
})

/** A population where each unit of an instruction costs about so much. */
class Costly extends Server {
  private readonly luck = RandomStream.make(9, ["costs"])
  private units = 0

  private readonly costOf: (instruction: string) => number

  constructor(guardrails: ReadonlyArray<string>, costOf: (instruction: string) => number) {
    super(settings(guardrails), ["seed", "variant", "another"])
    this.costOf = costOf
  }

  /** Units one after the other, each with its reward; the instructions that they got. */
  serve(now: number, count: number, sticky: string | null = null): ReadonlyArray<string> {
    return Arr.makeBy(count, () => {
      const request = { key: `k${this.units++}`, n: 1, stratum: "all", sticky, question: null, instructions: 1 }
      const phase = "train"
      const asked = this.do({ _tag: "Lease", now, cohort: null, phase, isFullBatch: false, requests: [request] })
      const [lease] = asked.answer._tag === "Leases" ? asked.answer.leases : []
      if (lease === undefined) return ""
      const usd = this.costOf(lease.instruction) * 2 * this.luck.next()
      const reward = { lease: lease.lease, sample: null, value: this.luck.next(), metrics: { usd, other: 1 } }
      this.do({ _tag: "Reward", now, rewards: [reward] })
      return lease.instruction
    })
  }

  get paused(): ReadonlyArray<string> {
    return this.log.flatMap((event) => (event._tag === "Paused" ? [event.id] : []))
  }
}

const expensive = (instruction: string) => (instruction === "i1" ? 0.15 : 0.03)

/** Whether a guardrail was ever shown to be broken, looking after every four numbers. */
const everBroken = (text: string, seed: number, of: (stream: RandomStream.RandomStream) => number): boolean => {
  const stream = RandomStream.make(seed, ["numbers"])
  let tallies: ReturnType<typeof Guardrails.tallied> = {}
  return Arr.makeBy(75, () => {
    for (let more = 0; more < 4; more++)
      tallies = Guardrails.added(tallies, Guardrails.tallied([text], { usd: of(stream) }))
    return Guardrails.brokenBy([text], tallies, 0.05) !== null
  }).includes(true)
}

describe("guardrails", () => {
  it.each([
    { what: "a mean", text: "usd=1", of: (stream) => 2 * stream.next() },
    { what: "a skewed mean", text: "usd=1", of: (stream) => -Math.log(1 - stream.next()) },
    { what: "a rare number", text: "usd=0.1", of: (stream) => (stream.next() < 0.1 ? 1 : 0) },
    { what: "a percentile", text: "usd.p90=9", of: (stream) => 10 * stream.next() }
  ] satisfies ReadonlyArray<{ what: string; text: string; of: Parameters<typeof everBroken>[2] }>)(
    "that are kept at their bound are shown to be broken in at most 5 % of lives: $what",
    ({ of, text }) => {
      const broken = Arr.makeBy(300, (seed) => everBroken(text, seed, of)).filter(Boolean).length
      assert.isAtMost(broken / 300, 0.05 + 3 * Math.sqrt((0.05 * 0.95) / 300))
    }
  )

  it("that are broken twice over are shown to be, mostly within 100 numbers", () => {
    for (const text of ["usd=0.5", "usd.p90=0.8"])
      assert.isAtLeast(
        Arr.makeBy(50, (seed) => everBroken(text, seed, (stream) => 2 * stream.next())).filter(Boolean).length,
        45
      )
  })

  it("pause a member that breaks one within its first cohort, and no other", () => {
    const server = new Costly(["usd=0.05"], expensive)
    const first = server.serve(1, 190)
    assert.deepEqual(server.paused, ["i1"])
    assert.isBelow(first.lastIndexOf("i1"), 150)
    const open = server.state.cohorts.find(({ status }) => status === "open")
    assert.isFalse(open?.shares.some(({ id }) => id === "i1"))
    const { broken } = snapshot(server.strategies, server.state).members.find(({ id }) => id === "i1") ?? {}
    assert.isAbove(broken?.lower ?? 0, 0.05)
    assert.notInclude(server.serve(2, 600), "i1")
    assert.isBelow(server.state.sampleRatio.evidence, SampleRatio.alarm)
    assert.deepEqual(server.paused, ["i1"])
  })

  it("give the conversations of a paused member another one, which they keep", () => {
    const server = new Costly(["usd=0.05"], expensive)
    const users = Arr.makeBy(20, (user) => `user ${user}`)
    const before = users.map((user) => server.serve(1, 1, user)[0])
    assert.include(before, "i1")
    server.serve(1, 180)
    assert.deepEqual(server.paused, ["i1"])
    const after = users.map((user) => server.serve(1, 1, user)[0])
    assert.notInclude(after, "i1")
    for (const [place, instruction] of before.entries())
      if (instruction !== "i1") assert.strictEqual(after[place], instruction)
    assert.deepEqual(
      users.map((user) => server.serve(1, 1, user)[0]),
      after
    )
  })

  it("take the place of the incumbent from a paused member, also of one that is better than the seed", () => {
    const server = new Costly(["usd=0.05"], () => 0.03)
    const { learning } = server.state
    const member = learning.population.members[1]?.instruction
    assert.isDefined(member)
    if (member === undefined) return
    const incumbent = { id: member.id, content: "variant", why: "better than the seed" as const }
    server.state = { ...server.state, learning: { ...learning, incumbent, proven: [member.id] } }
    const broken = { guardrail: "usd=0.05", value: 1, lower: 1, limit: 0.05, samples: 40 }
    const after = fold([...server.log, { _tag: "Paused", id: member.id, broken }])
    const { id, why } = after.learning.incumbent
    assert.deepEqual([id, why], [learning.seed, "nothing separates"])
    assert.isEmpty(after.learning.proven)
  })

  it("bar a paused member from being a parent, however good it is", () => {
    const server = new Costly(["usd=0.05"], () => 0.03)
    const best = server.state.learning.population.members[1]?.instruction.id
    if (best === undefined) return assert.fail("a population has members")
    const broken = { guardrail: "usd=0.05", value: 1, lower: 1, limit: 0.05, samples: 40 }
    const { learning } = server.state
    const population = { ...learning.population, comparison: { ...learning.population.comparison, incumbent: 1 } }
    const parents = (log: ReadonlyArray<PopulationEvent>) => {
      const state = { ...fold(log), learning: { ...fold(log).learning, population } }
      return chooseParents(context(Strategies.ofSettings(state.settings), state), state.learning).parents
    }
    assert.include(parents(server.log), best)
    assert.notInclude(parents([...server.log, { _tag: "Paused", id: best, broken }]), best)
  })

  it("never pause the seed, nor the last member that is leased, and are lifted with their setting", () => {
    const server = new Costly(["usd=0.05"], () => 0.5)
    server.serve(1, 400)
    assert.sameMembers([...server.paused], ["i1", "i2"])
    assert.isNotNull(snapshot(server.strategies, server.state).members[0]?.broken)
    assert.deepEqual(new Set(server.serve(2, 50)), new Set(["i0"]))
    server.do({ _tag: "Configure", now: 3, settings: settings(["usd=5"]) })
    server.do({ _tag: "Seal", now: 3, cohort: server.state.cohorts.at(-1)?.name ?? "" })
    assert.isAbove(new Set(server.serve(3, 100)).size, 1)
    const ofSeed = new Costly(["usd=0.05"], (instruction) => (instruction === "i0" ? 0.5 : 0.03))
    ofSeed.serve(1, 400)
    assert.isEmpty(ofSeed.paused)
    const trainer = { ...changed(Settings.trainer(1), { pruneEvery: 0, evolveEvery: 0 }), guardrails: ["usd=0.05"] }
    const last = new Server(trainer, ["seed", "variant"])
    last.do({ _tag: "Retire", now: 1, id: last.state.learning.seed })
    const leases = last.lease(
      2,
      Arr.makeBy(60, (key) => `${key}`),
      "train/1"
    )
    const rewards = leases.map(({ lease }) => ({ lease, sample: null, value: 1, metrics: { usd: 1 } }))
    last.do({ _tag: "Reward", now: 3, rewards })
    assert.isFalse(last.log.some(({ _tag }) => _tag === "Paused"))
  })

  it("count numbers alike in any order and any parts, and after a restart", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.double({ min: 0, max: 3, noNaN: true }), fc.boolean()), { minLength: 1, maxLength: 40 }),
        (numbers) => {
          const rules = ["usd=0.3", "usd.p95=0.2"]
          const all = numbers.map(([usd]) => Guardrails.tallied(rules, { usd }))
          const sum = (some: typeof all) => some.reduce(Guardrails.added, {})
          const of = (side: boolean) => sum(all.filter((_, place) => numbers[place]?.[1] === side))
          assert.deepEqual(Guardrails.added(of(true), of(false)), sum(all))
          assert.deepEqual(sum(all.toReversed()), sum(all))
        }
      )
    )
    const server = new Costly(["usd=0.05"], expensive)
    server.serve(1, 150)
    server.serve(2, 300)
    const stored = server.log.map((event) => decode(JSON.parse(JSON.stringify(encode(event)))))
    assert.deepEqual(plain(fold(stored)), plain(server.state))
  })

  it("count the numbers of late rewards, and of each sample once", () => {
    const server = new Costly(["usd=0.05"], expensive)
    const leases = server.lease(
      1,
      Arr.makeBy(200, (key) => `${key}`)
    )
    const rewards = leases.map(({ lease }) => ({ lease, sample: null, value: 1, metrics: { usd: 0.01 } }))
    server.do({ _tag: "Reward", now: 2, rewards: rewards.slice(0, 100) })
    server.do({ _tag: "Reward", now: 2, rewards: rewards.slice(0, 100) })
    server.do({ _tag: "Tick", now: 2 * 24 * 3_600_000 })
    assert.isEmpty(server.state.cohorts)
    server.do({ _tag: "Reward", now: 3 * 24 * 3_600_000, rewards })
    const counted = Object.values(server.state.learning.stats).map(({ numbers }) => numbers?.["usd=0.05"]?.count ?? 0)
    assert.strictEqual(
      counted.reduce((sum, one) => sum + one, 0),
      200
    )
  })
})

const encode = Schema.encodeSync(PopulationEvent)
const decode = Schema.decodeUnknownSync(PopulationEvent)

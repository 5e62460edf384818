import { assert, describe, it } from "@effect/vitest"
import { create, Evidence, type Learning, Settings, Strategies } from "@inspo/cohorts"
import { InstructionId } from "@inspo/domain/Instruction"
import * as RandomStream from "@inspo/domain/RandomStream"
import type { Group } from "@inspo/evolution"
import { Difference, InstructionValue, type MissingRewards, Superiority } from "@inspo/population"
import { AnytimePruning } from "@inspo/successive-halving"
import { Array as Arr, Schema } from "effect"
import { Server } from "./support/Server.ts"
import { changed } from "./support/Changed.ts"

const contents = ["the seed", "a variant", "another"] as const
const settings = Settings.online(1)

const learning = (): Learning.Learning => create(settings, contents).state.learning

const averaging = (missingRewards: MissingRewards.MissingRewards = "worst"): InstructionValue.Averaging => ({
  ...Strategies.averaging(settings),
  missingRewards
})

const id = (index: number) => InstructionId.make(`i${index}`)

const unit = (instruction: number, rewards: ReadonlyArray<number>, missing = 0): Group => ({
  instruction: id(instruction),
  rewards,
  missing,
  stratum: "all",
  question: null
})

const Rewards = Schema.NonEmptyArray(Schema.Literals([0, 0.25, 0.6, 1])).check(Schema.isMaxLength(3))
const Steps = Schema.Array(
  Schema.Array(
    Schema.Struct({ instruction: Schema.Literals([0, 1, 2]), rewards: Rewards, missing: Schema.Literals([0, 1, 2]) })
  ).check(Schema.isMaxLength(8))
).check(Schema.isMaxLength(6))

describe("evidence", () => {
  it.prop("is to the bit that of a run where no reward is missing", [Steps], ([steps]) => {
    let served = learning()
    let run = served.population
    for (const [index, groups] of steps.entries()) {
      served = Evidence.fold(
        averaging(),
        served,
        index + 1,
        groups.map(({ instruction, rewards }) => unit(instruction, rewards))
      )
      run = InstructionValue.observe(
        averaging(),
        run,
        index + 1,
        groups.map(({ instruction, rewards }) => ({ instructionId: id(instruction), rewards }))
      )
    }
    assert.deepEqual(served.population, run)
  })

  it.prop("of a missing reward that has a value is that of a cohort in which it was reported", [Steps], ([steps]) => {
    let missing = learning()
    let told = learning()
    for (const [index, groups] of steps.entries()) {
      const fold = (before: Learning.Learning, units: ReadonlyArray<Group>) =>
        Evidence.fold(averaging({ value: 0.25 }), before, index + 1, units)
      missing = fold(
        missing,
        groups.map((one) => unit(one.instruction, one.rewards, one.missing))
      )
      told = fold(
        told,
        groups.map((one) => unit(one.instruction, [...one.rewards, ...Array.from({ length: one.missing }, () => 0.25)]))
      )
    }
    assert.deepEqual(missing.population, told.population)
  })

  it.prop("that may hide anything holds the best and the worst it could be", [Steps], ([steps]) => {
    let known = learning()
    for (const [index, groups] of steps.entries())
      known = Evidence.fold(
        averaging(),
        known,
        index + 1,
        groups.map((one) => unit(one.instruction, one.rewards, one.missing))
      )
    for (const [index] of contents.entries()) {
      const own = steps.flat().filter(({ instruction }) => instruction === index)
      const bounds = known.population.members[index]?.lifetime.bounds
      assert.strictEqual(bounds?.groups, own.length)
      const mean = (hidden: number) =>
        own.reduce(
          (sum, { rewards, missing }) =>
            sum + (rewards.reduce<number>((all, one) => all + one, 0) + hidden * missing) / (rewards.length + missing),
          1 / 2
        )
      assert.approximately(bounds?.low ?? Number.NaN, mean(0), 1e-9)
      assert.approximately(bounds?.high ?? Number.NaN, mean(1), 1e-9)
    }
  })

  it("against a member that hides its bad rewards cannot be made of them", () => {
    let known = learning()
    const none = unit(1, [], 1)
    for (let index = 1; index <= 400; index++)
      known = Evidence.fold(averaging(), known, index, [unit(0, [index % 2]), unit(1, [1]), none, unit(2, [0])])
    const [seed, hiding, bad] = known.population.members
    if (seed === undefined || hiding === undefined || bad === undefined) throw new Error("three members")
    assert.isBelow(Superiority.eValue(hiding, seed), 1)
    assert.isAbove(Superiority.eValue(seed, bad), 1e6)
  })

  it("of ten thousand cohorts is kept in the room of a few", () => {
    let known = learning()
    const grow = (from: number, to: number) => {
      for (let index = from; index <= to; index++)
        known = Evidence.fold(averaging(), known, index, [unit(0, [1], 1), unit(1, [0]), unit(2, [index % 2])])
      return JSON.stringify(known).length
    }
    const few = grow(1, 100)
    assert.isAtMost(grow(101, 10_000), 1.1 * few)
  })
})

describe("the risk for life", () => {
  it("is shared among all pairs that ever were, whoever outlives whom", () => {
    const server = new Server(changed(settings, { size: 10 }), contents)
    let spent = 0
    let counted = 0
    const count = () => {
      const { entries, members, pairs } = server.state.learning.population
      const born = members.flatMap((one, a) =>
        members.filter((other, b) => a !== b && Math.max(one.entry, other.entry) === entries)
      )
      assert.strictEqual(pairs[String(entries)], born.length, `pairs of entry ${entries}`)
      counted++
      assert.strictEqual(entries, counted)
      spent += 6 / (Math.PI ** 2 * entries ** 2)
      assert.isBelow(spent, 1)
    }
    count()
    for (let round = 0; round < 200; round++) {
      server.do({ _tag: "Add", now: 0, content: `by hand ${round}`, parent: null })
      count()
      const { members } = server.state.learning.population
      const leaving = members[1 + (round % 2)]
      if (leaving !== undefined && members.length > 4) server.do({ _tag: "Retire", now: 0, id: leaving.instruction.id })
    }
    assert.strictEqual(counted, 201)
  })

  it("is not taken before: a member leaves when the doubt is at most δ", () => {
    let known = learning()
    const doubts: Array<number> = []
    for (let index = 1; index <= 80; index++) {
      const units = [unit(0, [1]), unit(1, [index % 2]), unit(2, [index % 2])]
      known = Evidence.fold(averaging(), known, index, units)
      const values = known.population.members.map(({ instruction }) => ({ id: instruction.id, value: 0 }))
      const { pruned } = AnytimePruning.make({ delta: 0.3, parents: 1 }).prune(known.population, values)
      for (const member of known.population.members) {
        const doubt = AnytimePruning.doubt(known.population, member)
        doubts.push(doubt)
        assert.strictEqual(
          pruned.some(({ id }) => id === member.instruction.id),
          doubt <= 0.3
        )
      }
    }
    assert.isTrue(doubts.some((doubt) => doubt > 0.3 && doubt < 1))
    assert.isTrue(doubts.some((doubt) => doubt <= 0.3))
  })

  it("prunes whoever is worse, the worst first, never the protected and never the last", () => {
    let known = learning()
    for (let index = 1; index <= 60; index++)
      known = Evidence.fold(averaging(), known, index, [
        ...Arr.makeBy(4, () => unit(0, [1])),
        ...Arr.makeBy(4, () => unit(1, [0.5])),
        ...Arr.makeBy(4, () => unit(2, [0]))
      ])
    const values = InstructionValue.make({
      window: 5,
      average: "observed",
      span: "steps",
      unseen: "mean",
      ties: "evidence",
      best: "evidence"
    }).values(known.population)
    const prune = (parents: number, ...protectedIds: ReadonlyArray<number>) =>
      AnytimePruning.make({ delta: 0.05, parents })
        .prune(known.population, values, new Set(protectedIds.map(id)))
        .pruned.map((one) => one.id)
    assert.deepEqual(prune(1), [id(2), id(1)])
    assert.deepEqual(prune(2), [id(2)])
    assert.deepEqual(prune(1, 2), [id(1)])
  })
})

describe("the live difference", () => {
  it("holds the truth at all times, and closes in on it", () => {
    const means = [0.4, 0.6, 0.5]
    let missed = 0
    for (let seed = 1; seed <= 40; seed++) {
      const { next } = RandomStream.make(seed, ["difference"])
      let known = learning()
      let holds = true
      let width = 2
      for (let index = 1; index <= 60; index++) {
        const units = means.flatMap((mean, one) => Arr.makeBy(8, () => unit(one, [next() < mean ? 1 : 0])))
        known = Evidence.fold(averaging(), known, index, units)
        const [seedMember, better] = known.population.members
        if (seedMember === undefined || better === undefined) throw new Error("two members")
        const { lower, upper } = Difference.interval(better, seedMember, 0.05)
        const turned = Difference.interval(seedMember, better, 0.05)
        assert.approximately(turned.lower, -upper, 1e-6)
        holds = holds && lower <= 0.2 && upper >= 0.2
        width = upper - lower
      }
      if (!holds) missed++
      assert.isBelow(width, 0.4)
    }
    assert.isAtMost(missed, 2)
  })

  it("is not known while nothing is shared", () => {
    const known = learning()
    const [seed, other] = known.population.members
    if (seed === undefined || other === undefined) throw new Error("two members")
    assert.deepEqual(Difference.interval(other, seed, 0.05), { lower: -1, upper: 1 })
  })
})

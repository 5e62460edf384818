import { assert, describe, it } from "@effect/vitest"
import { CohortEvidence, create, type Learning, Settings, Strategies } from "@inspo/cohorts"
import { Instruction, Question, RandomStream } from "@inspo/domain"
import type { Group } from "@inspo/evolution"

import { Comparison, Difference, Population } from "@inspo/population"
import { EvidencePruning } from "@inspo/successive-halving"
import { Array as Arr, Schema } from "effect"
import * as fc from "fast-check"
import { Server } from "./support/Server.ts"
import { changed } from "./support/Changed.ts"

const contents = ["the seed", "a variant", "another"] as const
const settings = Settings.online(1)

const learning = (): Learning.Learning => create(settings, contents).state.learning

const valuation = (missingRewards: Population.MissingRewards = "worst") => {
  return Strategies.ofSettings({ ...settings, missingRewards }).valuation
}

const id = (index: number) => Instruction.InstructionId.make(`i${index}`)

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

/** What an instruction earned on a question that both of two were asked on. */
interface Shown {
  readonly rewards: ReadonlyArray<number>
  readonly missing: number
}

const Pairs = fc.array(
  fc.array(
    fc.tuple(
      ...[0, 1].map(() =>
        fc.record({
          rewards: fc.array(fc.constantFrom(0, 0.3, 1), { minLength: 1, maxLength: 3 }),
          missing: fc.integer({ min: 0, max: 2 })
        })
      )
    ),
    { minLength: 1, maxLength: 3 }
  ),
  { minLength: 1, maxLength: 6 }
)
const Shifts = fc.array(fc.constantFrom(0, 0.1, 0.25, 0.5), { minLength: 1, maxLength: 8 })

const two = (): Learning.Learning => create(settings, ["the seed", "a variant"]).state.learning

const shared = (
  questions: ReadonlyArray<ReadonlyArray<Shown>>,
  of: (one: Shown) => readonly [rewards: ReadonlyArray<number>, missing: number]
): ReadonlyArray<Group> =>
  questions.flatMap((pair, at) =>
    pair.map((one, place) => ({ ...unit(place, ...of(one)), question: Question.QuestionId.make(`q${at}`) }))
  )

const pruneOf = (
  { population }: Learning.Learning,
  delta: number,
  parents: number,
  protectedIds: ReadonlySet<Instruction.InstructionId> = new Set()
) => {
  const { pruned } = EvidencePruning.removal({ delta, parents }).prune(
    population,
    Population.compare.values(population),
    protectedIds
  )
  return { pruned: pruned.map((one) => one.id) }
}

describe("evidence", () => {
  it.prop("equals that of a run to the bit if no reward is missing", [Steps], ([steps]) => {
    let served = learning()
    let run = served.population
    for (const [index, groups] of steps.entries()) {
      served = CohortEvidence.fold(
        valuation(),
        served,
        index + 1,
        groups.map(({ instruction, rewards }) => unit(instruction, rewards))
      )
      run = valuation().observe(
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
        CohortEvidence.fold(valuation({ value: 0.25 }), before, index + 1, units)
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
      known = CohortEvidence.fold(
        valuation(),
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
    for (let index = 1; index <= 400; index++)
      known = CohortEvidence.fold(valuation(), known, index, [
        unit(0, [index % 2]),
        unit(1, [1]),
        unit(1, [], 1),
        unit(2, [0])
      ])
    const [seed = 0, hiding = 0, bad = 0] = Comparison.evidenceAgainst(known.population.comparison)
    assert.isBelow(seed, 1)
    assert.isBelow(hiding, 1)
    assert.isAbove(bad, 1e6)
  })

  it("refutes no member more than it would with any missing rewards known", () =>
    fc.assert(
      fc.property(Pairs, fc.array(fc.constantFrom(0, 1), { minLength: 7, maxLength: 7 }), (pairs, hidden) => {
        let worst = two()
        let completed = two()
        let at = 0
        const complete = ({ missing, rewards }: Shown) => [
          ...rewards,
          ...Array.from({ length: missing }, () => hidden[at++ % hidden.length] ?? 0)
        ]
        for (const [index, questions] of pairs.entries()) {
          const fold = (before: Learning.Learning, of: (one: Shown) => readonly [ReadonlyArray<number>, number]) =>
            CohortEvidence.fold(valuation(), before, index + 1, shared(questions, of))
          worst = fold(worst, ({ missing, rewards }) => [rewards, missing])
          completed = fold(completed, (one) => [complete(one), 0])
        }
        const under = Comparison.evidenceAgainst(worst.population.comparison)
        for (const [place, known] of Comparison.evidenceAgainst(completed.population.comparison).entries())
          assert.isAtMost(under[place] ?? Number.NaN, known * (1 + 1e-9))
      })
    ))

  it("is the same whatever all instructions share: a better policy, or easier questions", () =>
    fc.assert(
      fc.property(Pairs, Shifts, (pairs, shifts) => {
        const fold = (shiftOf: (cohort: number, question: number) => number) =>
          pairs.reduce(
            (before, questions, index) =>
              CohortEvidence.fold(
                valuation(),
                before,
                index + 1,
                questions.flatMap((question, at) =>
                  shared([question], ({ rewards }) => [rewards.map((one) => one / 2 + shiftOf(index, at)), 0]).map(
                    (one) => ({
                      ...one,
                      question: Question.QuestionId.make(`q${at}`)
                    })
                  )
                )
              ),
            two()
          ).population.comparison
        const plain = fold(() => 0)
        const shifted = fold((cohort, question) => shifts[(3 * cohort + question) % shifts.length] ?? 0)
        const numbers = (one: Comparison.Comparison) => [
          ...one.precision.flat(),
          ...one.weighted,
          one.squares,
          ...Comparison.evidenceAgainst(one)
        ]
        const expected = numbers(plain)
        for (const [place, value] of numbers(shifted).entries())
          assert.approximately(value, expected[place] ?? Number.NaN, 1e-9 * (1 + Math.abs(value)))
      })
    ))

  it("of ten thousand cohorts is kept in the room of a few", { tags: "deep" }, () => {
    let known = learning()
    const grow = (from: number, to: number) => {
      for (let index = from; index <= to; index++)
        known = CohortEvidence.fold(valuation(), known, index, [unit(0, [1], 1), unit(1, [0]), unit(2, [index % 2])])
      return JSON.stringify(known).length
    }
    const few = grow(1, 100)
    assert.isAtMost(grow(101, 10_000), 1.1 * few)
  })
})

describe("the risk for life", () => {
  it("is not taken before: a member leaves when the doubt is at most δ", () => {
    let known = learning()
    const doubts: Array<number> = []
    for (let index = 1; index <= 40; index++) {
      const units = [unit(0, [1]), unit(1, [index % 2]), unit(2, [index % 2])]
      known = CohortEvidence.fold(valuation(), known, index, units)
      const { pruned } = pruneOf(known, 0.3, 1)
      for (const [id, doubt] of EvidencePruning.doubtsOf(known.population)) {
        doubts.push(doubt)
        assert.strictEqual(pruned.includes(id), doubt <= 0.3)
      }
    }
    assert.isTrue(doubts.some((doubt) => doubt > 0.3 && doubt < 1))
    assert.isTrue(doubts.some((doubt) => doubt <= 0.3))
  })

  it("is divided among all pairs that there ever are: their parts of it add up to less than all of it", () => {
    const server = new Server(changed(settings, { size: 40 }), contents)
    let [spent, before] = [0, 0]
    for (let generation = 1; generation <= 30; generation++) {
      const { comparison, members } = server.state.learning.population
      assert.strictEqual(comparison.generation, generation)
      const sum = comparison.shares.flat().reduce((all, one) => all + one, 0)
      // A pair that ends gives nothing back.
      spent += Math.max(0, sum - before)
      server.do({ _tag: "Add", now: 0, content: `by hand ${generation}`, parent: null })
      const id = members.at(-1)?.instruction.id
      if (generation % 3 === 0 && id !== undefined) server.do({ _tag: "Retire", now: 0, id })
      before = server.state.learning.population.comparison.shares.flat().reduce((all, one) => all + one, 0)
    }
    assert.isAtMost(spent, 1)
  })

  it("prunes worse members, the worst first, never a protected one and never the last", () => {
    let known = learning()
    for (let index = 1; index <= 60; index++)
      known = CohortEvidence.fold(valuation(), known, index, [
        ...Arr.makeBy(4, () => unit(0, [1])),
        ...Arr.makeBy(4, () => unit(1, [0.5])),
        ...Arr.makeBy(4, () => unit(2, [0]))
      ])
    const prune = (parents: number, ...protectedIds: ReadonlyArray<number>) =>
      pruneOf(known, 0.05, parents, new Set(protectedIds.map(id))).pruned
    assert.sameMembers([...prune(1)], [id(2), id(1)])
    assert.lengthOf(prune(2), 1)
    assert.deepEqual(prune(1, 2), [id(1)])
  })
})

describe("the difference", () => {
  it("has an interval that holds whatever missing rewards would have been", () => {
    let known = two()
    for (let index = 1; index <= 200; index++)
      known = CohortEvidence.fold(valuation(), known, index, [
        index % 2 === 0 ? unit(0, [], 1) : unit(0, [(index % 4) / 3]),
        unit(1, index % 5 === 0 ? [] : [0.6], index % 5 === 0 ? 1 : 0)
      ])
    // The seed has 1/3 or 1 in half of its units, the variant 0.6 in four of five.
    const { lower, upper } = Difference.between(known.population, id(1), id(0)) ?? assert.fail("no difference")
    assert.isAtMost(lower, 0.48 - (1 / 3 + 1 / 2))
    assert.isAtLeast(upper, 0.68 - 1 / 3)
  })

  it("has the truth in its 95 % interval about as often as that, and closes in on it", { tags: "deep" }, () => {
    const means = [0.4, 0.6, 0.5]
    let held = 0
    for (let seed = 1; seed <= 100; seed++) {
      const { next } = RandomStream.make(seed, ["difference"])
      let known = learning()
      for (let index = 1; index <= 60; index++) {
        const units = means.flatMap((mean, one) => Arr.makeBy(8, () => unit(one, [next() < mean ? 1 : 0])))
        known = CohortEvidence.fold(valuation(), known, index, units)
      }
      const { lower, upper } = Difference.between(known.population, id(1), id(0)) ?? assert.fail("no difference")
      if (lower <= 0.2 && upper >= 0.2) held++
      assert.isBelow(upper - lower, 0.15)
    }
    assert.isTrue(held >= 88 && held <= 100, `${held} of 100 hold the truth`)
  })
})
